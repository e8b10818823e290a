"""What the page looks like: every colour, size and space is named here, once, for light, dark and paper."""

LIGHT = {
    "paper": "#faf9f6",
    "card": "#ffffff",
    "ink": "#1c2126",
    "muted": "#596069",
    "line": "#e3e0d9",
    "accent": "#0c6b6b",
    "accent-rgb": "12 107 107",
    "on-accent": "#ffffff",
    "bad": "#a8321f",
    "bad-rgb": "168 50 31",
    "bad-wash": "#fbeae6",
}
DARK = {
    "paper": "#14181b",
    "card": "#1b2024",
    "ink": "#e8eaeb",
    "muted": "#a2abb3",
    "line": "#30373d",
    "accent": "#55c2b8",
    "accent-rgb": "85 194 184",
    "on-accent": "#0e1416",
    "bad": "#ff9b85",
    "bad-rgb": "255 155 133",
    "bad-wash": "#3a211c",
}

CATEGORIES = (
    ("#0072b2", "#5aaee6"),
    ("#e69f00", "#f0b645"),
    ("#009e73", "#35c496"),
    ("#cc79a7", "#e6a3c8"),
    ("#56b4e9", "#a5daf8"),
    ("#d55e00", "#f58a4b"),
    ("#a39300", "#e3d85b"),
    ("#60646c", "#b9bfc7"),
)
"""A colour for each class on light and on dark ground, told apart by colour-blind readers too (after Okabe & Ito 2008)."""

CSS = """
*, *::before, *::after { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 2rem; -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 400 1rem/1.6 Inter, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; print-color-adjust: exact; -webkit-print-color-adjust: exact;
}
main, .contents, footer { width: min(100% - 2.5rem, 60rem); margin-inline: auto; }
a { color: var(--accent); text-underline-offset: .2em; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; border-radius: 3px; }
h1, h2, h3 { line-height: 1.2; letter-spacing: -.02em; text-wrap: balance; font-weight: 650; margin: 0; }
h1, .big { font-variant-numeric: normal; }
h1 { font-size: clamp(1.9rem, 1.3rem + 2.6vw, 3rem); letter-spacing: -.03em; }
h2 { font-size: 1.5rem; }
h3 { font-size: 1rem; letter-spacing: -.005em; margin-top: 2.5rem; }
p { margin: .75rem 0 0; max-width: 42rem; text-wrap: pretty; }
section { margin-top: 5.5rem; }
.word { overflow-wrap: anywhere; }
@media screen {
  td .word, tbody th .word, .legend .word, .near .word, .card h3 .word, .card b .word {
    display: -webkit-inline-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; vertical-align: bottom;
  }
}
.eyebrow { margin: 0 0 .9rem; color: var(--accent); font-weight: 600; font-size: .875rem; }
.lead { color: var(--muted); }
.verdict { font-size: 1.25rem; line-height: 1.45; max-width: 40rem; margin-top: 1.75rem; text-wrap: balance; }
.small, figcaption, caption { color: var(--muted); font-size: .875rem; line-height: 1.5; }
header { padding-top: clamp(2.5rem, 6vw, 5rem); }

.contents { padding-top: 1.5rem; font-size: .875rem; }
.contents ol { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; }
.contents a { color: var(--muted); text-decoration: none; display: block; padding: .25rem 0; }
.contents a:hover { color: var(--accent); }
@media (min-width: 75rem) {
  body { display: grid; grid-template-columns: 10rem minmax(0, 56rem); column-gap: 5rem; justify-content: center; }
  main, .contents, footer { width: auto; margin: 0; }
  .contents { grid-row: 1 / span 2; padding-top: 5.1rem; }
  .contents ol { position: sticky; top: 2.5rem; flex-direction: column; gap: 0; }
  main, footer { grid-column: 2; }
}

.hero { display: grid; gap: 2rem 4rem; margin-top: 2.75rem; align-items: end; }
@media (min-width: 48rem) { .hero { grid-template-columns: auto minmax(0, 1fr); } }
.big { font-size: clamp(4rem, 3rem + 5vw, 6.25rem); line-height: .9; letter-spacing: -.05em; font-weight: 650; margin: 0; }
.big small { font-size: .45em; letter-spacing: -.02em; font-weight: 500; color: var(--muted); margin-left: .06em; }
.versus { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: .3rem 1rem; margin: 0; font-size: .9375rem; }
.versus .bar { grid-column: 1 / -1; margin-bottom: .6rem; height: .5rem; }
.versus .value { font-weight: 600; margin: 0; text-align: right; }

.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)); gap: 1.5rem 1rem; margin: 2rem 0 0; }
.tiles div { display: flex; flex-direction: column-reverse; justify-content: flex-end; }
.tiles div { border-top: 1px solid var(--line); padding-top: .6rem; }
.tiles dt { color: var(--muted); font-size: .8125rem; line-height: 1.4; }
.tiles dd { margin: 0; font-size: 1.5rem; font-weight: 600; letter-spacing: -.02em; line-height: 1.3; }

.notes { list-style: none; margin: 1.5rem 0 0; padding: 0; display: grid; gap: .5rem; }
.notes li { background: var(--bad-wash); border-radius: .5rem; padding: .7rem 1rem; font-size: .9375rem; }
.notes b, .broken { color: var(--bad); }

.box { overflow: auto; margin-top: 1.25rem; max-width: 100%; border-radius: 2px; }
.box:has(.long) { max-height: 26rem; border-bottom: 1px solid var(--line); }
.long thead th { position: sticky; top: 0; background: var(--paper); }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; line-height: 1.4; overflow-wrap: break-word; }
caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
th, td { text-align: left; padding: .5rem 1rem .5rem 0; border-bottom: 1px solid var(--line); vertical-align: middle; }
th:last-child, td:last-child { padding-right: 0; }
thead th { color: var(--muted); font-weight: 500; font-size: .8125rem; white-space: nowrap; }
tbody th { font-weight: 500; min-width: 7rem; }
.mine { font-weight: 650; color: var(--accent); }
.counts tr > :not(:first-child, :last-child) { text-align: right; }
.counts tr > :last-child { padding-left: 1.5rem; width: 34%; }
.counts tbody th { width: 24%; }
.board td:nth-child(2) { white-space: nowrap; padding-right: 2rem; }
.board td:nth-child(2n + 4) { width: 18%; }
th button { all: unset; cursor: pointer; }
th button:focus-visible { outline: 2px solid var(--accent); }
th button:hover { color: var(--accent); }
[aria-sort=descending] button::after { content: " ↓"; }
[aria-sort=ascending] button::after { content: " ↑"; }
.number { white-space: nowrap; }
.spread { color: var(--muted); font-weight: 400; }

.bar { display: flex; height: .4rem; border-radius: .2rem; background: rgb(var(--accent-rgb) / .1); overflow: hidden; }
td .bar { min-width: 6rem; }
.bar span { background: var(--accent); }
.bar .second { background: rgb(var(--accent-rgb) / .55); }
.bar .third { background: rgb(var(--accent-rgb) / .28); }
.bar .plain { background: var(--muted); }
.bar .guess, .swatch.guess {
  background: repeating-linear-gradient(-45deg, var(--accent) 0 2px, rgb(var(--accent-rgb) / .18) 2px 5px);
}
.swatch { display: inline-block; width: .75rem; height: .75rem; border-radius: .2rem; background: var(--accent); }
.swatch.second { background: rgb(var(--accent-rgb) / .55); }
.swatch.third { background: rgb(var(--accent-rgb) / .28); }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; }
.legend { margin: 1rem 0 0; padding: 0; font-size: .875rem; }
.legend li { display: flex; align-items: center; gap: .45rem; border-radius: .25rem; max-width: 100%; }
.legend svg { width: .9rem; height: .9rem; flex: none; }
.legend [role=button] { cursor: pointer; }
.legend [aria-pressed=true] { color: var(--accent); text-decoration: underline; text-underline-offset: .3em; }

figure { margin: 1.75rem 0 0; }
figcaption { margin-top: .6rem; max-width: 42rem; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { fill: var(--muted); font-size: 12px; }
svg .strong { fill: var(--ink); font-weight: 600; }
.grid { stroke: var(--line); stroke-width: 1; }
.axis { stroke: var(--muted); stroke-width: 1; opacity: .6; }
.mark { stroke: var(--accent); stroke-width: 1.5; stroke-dasharray: 2 3; }
.curve { fill: none; stroke: var(--accent); stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.fill { fill: var(--accent); }
.soft { fill: rgb(var(--accent-rgb) / .3); }
.plain { fill: var(--muted); }
.tick { fill: var(--ink); }
.track { fill: rgb(var(--accent-rgb) / .1); }
.dot { fill: var(--card); stroke: var(--accent); stroke-width: 2; }
.ideal { stroke: var(--muted); stroke-width: 1.25; stroke-dasharray: 4 4; }
.sure { stroke: var(--ink); stroke-width: 2; }
.beside { display: flex; flex-wrap: wrap; gap: 0 3.5rem; align-items: flex-start; }
.beside > .box { flex: 0 1 auto; }
.beside > div:last-child:not(.box) { flex: 1 1 14rem; max-width: 24rem; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 16rem), 1fr)); gap: 1.5rem 2.5rem; }
.panels figure { max-width: 27rem; }
.split { display: grid; gap: 1rem 3.5rem; align-items: start; }
.tiles + p { margin-top: 1.5rem; }
.split .tiles { grid-template-columns: 1fr 1fr; }
@media (min-width: 48rem) { .split { grid-template-columns: minmax(0, 24rem) minmax(0, 1fr); } }

.map { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1rem; }
@media (min-width: 48rem) {
  .map > div { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, auto); gap: 1.5rem; }
  .map .legend { flex-direction: column; flex-wrap: nowrap; max-width: 11rem; margin: .75rem .5rem 0 0; }
  .map > div:has(li:nth-child(21)) { grid-template-columns: minmax(0, 1fr); }
  .map .legend:has(li:nth-child(21)) { flex-flow: row wrap; max-width: none; }
}
.map use { fill: currentColor; fill-opacity: .75; cursor: default; }
.map use.open { fill: none; stroke: currentColor; stroke-width: 1.2; }
.ring { fill: none; stroke: var(--ink); stroke-width: 1.2; pointer-events: none; }
.legend use { fill: currentColor; }
.dim { opacity: .06; }
.tip {
  position: fixed; z-index: 9; pointer-events: none; max-width: min(20rem, 90vw); white-space: pre-line;
  background: var(--ink); color: var(--paper); font-size: .8125rem; line-height: 1.45;
  padding: .5rem .7rem; border-radius: .4rem;
}
.tip[hidden] { display: none; }

.matrix { width: auto; border-collapse: separate; border-spacing: 2px; font-size: .8125rem; }
.matrix th, .matrix td { border: 0; padding: 0; }
.matrix td {
  min-width: 2.35rem; height: 2.35rem; text-align: center; border-radius: .25rem; color: var(--ink);
  background: rgb(var(--accent-rgb) / calc(.05 + .95 * var(--s, 0)));
}
.matrix td.wrong { background: rgb(var(--bad-rgb) / calc(.12 + .8 * var(--s, 0))); }
.matrix td.none { background: rgb(var(--accent-rgb) / .05); color: transparent; }
.matrix td.deep { color: var(--on-accent); }
@media screen and (prefers-color-scheme: dark) { .matrix td.half { color: var(--on-accent); } }
.matrix.tight td { min-width: 1.6rem; height: 1.6rem; font-size: .6875rem; }
.matrix thead th { vertical-align: bottom; text-align: center; color: var(--ink); padding-bottom: .3rem; max-width: 6rem; }
.matrix .turned { writing-mode: vertical-rl; transform: rotate(180deg); max-height: 8rem; display: inline-block; }
.matrix tbody th { min-width: 0; padding-right: .6rem; text-align: right; max-width: 10rem; white-space: nowrap; }
.matrix tbody th { position: sticky; left: 0; background: var(--paper); }
.matrix thead td { background: none; color: var(--muted); text-align: right; vertical-align: bottom; }
.matrix thead td { padding: 0 .6rem .3rem 0; }

.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 25rem), 1fr)); gap: 1.25rem; }
.cards { margin-top: 1.5rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1.25rem 1.4rem; min-width: 0; }
.card h3 { margin: 0; }
.card p { margin-top: .3rem; font-size: .9375rem; }
.near { display: grid; grid-template-columns: minmax(0, 7rem) minmax(0, 1fr) auto; gap: .3rem .8rem; align-items: center; }
.near { margin: .9rem 0 0; font-size: .8125rem; }
.near dt { margin: 0; }
.near dd { margin: 0; }

.certificate { list-style: none; margin: 1.5rem 0 0; padding: 0; }
.certificate li { display: grid; grid-template-columns: 5rem minmax(0, 1fr); gap: 1rem; padding: .9rem 0; }
.certificate li { border-top: 1px solid var(--line); }
.certificate p { margin: 0; font-size: .9375rem; }
.sign { font-size: .8125rem; font-weight: 600; line-height: 1.85; color: var(--muted); }
.sign.holds { color: var(--accent); }
.sign.broken { color: var(--bad); }
pre { margin: 1.25rem 0 0; padding: 1rem 1.25rem; background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  white-space: pre-wrap; overflow-wrap: anywhere; }
code { font: .875rem/1.6 ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; }
footer { margin-top: 6rem; padding-block: 1.5rem 3rem; color: var(--muted); font-size: .8125rem; }

@media (max-width: 40rem) {
  .board .word { -webkit-line-clamp: 5; }
  section { margin-top: 4rem; }
  .certificate li { grid-template-columns: 1fr; gap: .1rem; }
  .card { padding: 1rem; }
  .counts tr > :last-child, .board tr > :nth-child(2n + 4) { display: none; }
  th, td { padding-right: .7rem; }
  .counts tbody th, .board tbody th { min-width: 5.5rem; }
  .board td:nth-child(2) { white-space: normal; padding-right: .7rem; }
  .box td:last-child { min-width: 7.5rem; }
  .box .matrix td, .box .counts td { min-width: 2rem; }
  .map { padding: .5rem; }
}
@media print {
  body { display: block; background: #fff; font-size: 10pt; }
  main, footer { width: auto; }
  .contents, .tip { display: none; }
  header { padding-top: 0; }
  section { margin-top: 2.5rem; }
  .box, .box:has(.long) { overflow: visible; max-height: none; }
  figure, .card, tr, .certificate li { break-inside: avoid; }
  h2, h3, .lead { break-after: avoid; }
}
"""


def stylesheet() -> str:
    """The tokens of both grounds, the colours of classes, and the rules."""
    light, dark = ({**ground, **_categories(at)} for at, ground in enumerate((LIGHT, DARK)))
    classes = "\n".join(f".k{at} {{ color: var(--k{at}); }}" for at in range(len(CATEGORIES)))
    return (
        f":root {{ color-scheme: light dark; {_tokens(light)} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {_tokens(dark)} }} }}\n{classes}\n{CSS}"
    )


def _categories(ground: int) -> dict[str, str]:
    return {f"k{at}": pair[ground] for at, pair in enumerate(CATEGORIES)}


def _tokens(values: dict[str, str]) -> str:
    return " ".join(f"--{name}: {value};" for name, value in values.items())
