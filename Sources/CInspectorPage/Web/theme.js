// Applies the saved theme before the first paint. A module would run too late.
(() => {
  const saved = localStorage.getItem("inspector-theme");
  if (saved === "light" || saved === "dark") document.documentElement.dataset.theme = saved;
})();
