"""Draws bars as SVG, in the style of the charts of Benchmarks/compare."""

COLORS = {"with a tier": "#c7432b", "without": "#33658a"}


def bars(title, groups):
    """Returns a chart. A group has a name, a unit, and its bars with name and value; each group has its own scale."""
    left, right, pitch = 260, 740, 24
    elements, y = [text(title, 20, 28, weight="bold")], 60
    for name, unit, lines in groups:
        elements.append(text(name, 20, y + 4, weight="bold"))
        most = max(value for _, value in lines)
        for label, value in lines:
            width = (right - left) * value / most
            elements.append(text(label, left - 12, y + 4, anchor="end"))
            elements.append(f'<rect x="{left}" y="{y - 8}" width="{width:.1f}" height="16" fill="{COLORS.get(label, "#999999")}"/>')
            elements.append(text(f"{value:,.0f}{unit}", left + width + 8, y + 4))
            y += pitch
        y += pitch // 2
    return f'''<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 {y}" font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#222">
<rect width="100%" height="100%" fill="white"/>
{chr(10).join(elements)}
</svg>
'''


def text(value, x, y, anchor="start", weight="normal"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}">{value}</text>'
