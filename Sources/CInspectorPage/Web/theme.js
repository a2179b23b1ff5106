// Applies the saved theme before the first paint; a module would run after it.
(() => {
  const saved = localStorage.getItem("inspector-theme");
  if (saved === "light" || saved === "dark") document.documentElement.dataset.theme = saved;
})();
