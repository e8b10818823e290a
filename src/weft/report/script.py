"""The little that moves: tooltips at once, tables that sort, a legend that picks. Without it nothing is lost."""

SCRIPT = """
const tip = Object.assign(document.createElement("div"), {className: "tip", hidden: true});
document.body.append(tip);
document.addEventListener("pointerover", event => {
  const mark = event.target.closest("svg *");
  const title = mark && [...mark.children].find(child => child.tagName === "title");
  if (title) {
    mark.dataset.tip = title.textContent;
    mark.setAttribute("aria-label", title.textContent);
    title.remove();
  }
  tip.hidden = !mark?.dataset.tip;
  tip.textContent = mark?.dataset.tip ?? "";
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(8, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + "px";
  tip.style.top = Math.max(8, event.clientY - box.height - 12) + "px";
});

const valueOf = (row, at) => {
  const text = row.cells[at].textContent.trim();
  return text === "–" ? -1 : Number(text.replace(/[,%]/g, "")) || (/^[0.,%]+$/.test(text) ? 0 : text);
};
const inOrder = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
for (const head of document.querySelectorAll("table.sortable thead th")) {
  const button = Object.assign(document.createElement("button"), {type: "button"});
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    const body = head.closest("table").tBodies[0], at = head.cellIndex;
    const up = head.getAttribute("aria-sort") === "descending";
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    body.append(...[...body.rows].sort((a, b) => (up ? 1 : -1) * inOrder(valueOf(a, at), valueOf(b, at))));
  });
}

for (const legend of document.querySelectorAll(".legend.picks")) {
  const marks = legend.closest("figure").querySelectorAll("svg [data-c]"), chosen = new Set();
  for (const entry of legend.children) {
    entry.tabIndex = 0;
    entry.setAttribute("role", "button");
    entry.setAttribute("aria-pressed", "false");
    const pick = () => {
      chosen.delete(entry.dataset.code) || chosen.add(entry.dataset.code);
      entry.setAttribute("aria-pressed", chosen.has(entry.dataset.code));
      for (const mark of marks) mark.classList.toggle("dim", chosen.size > 0 && !chosen.has(mark.dataset.c));
    };
    entry.addEventListener("click", pick);
    entry.addEventListener("keydown", event => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      pick();
    });
  }
}
"""
