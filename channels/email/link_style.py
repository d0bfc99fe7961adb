"""How the page behind a link looks: in light and in dark, on a phone and on a desk."""

from __future__ import annotations

from typing import Final

STYLE: Final = """
:root{color-scheme:light dark;--text:#1b1f24;--dim:#5b6470;--page:#f4f5f7;--card:#fff;
--line:#d3d8de;--go:#1a56db;--go-text:#fff;--deny:#b3261e;--wrong:#b3261e;--code:#f2f4f7}
@media(prefers-color-scheme:dark){:root{--text:#e6e9ed;--dim:#9aa4b0;--page:#111418;--card:#1a1f25;
--line:#39424d;--go:#7aa7ff;--go-text:#0b1220;--deny:#ff9d94;--wrong:#ff9d94;--code:#12161b}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
main{max-width:44rem;margin:2.5rem auto;padding:1.75rem 2rem;background:var(--card);
border:1px solid var(--line);border-radius:12px}
@media(max-width:40rem){main{margin:0;min-height:100vh;padding:1.25rem 1rem;border:0;
border-radius:0}}
h1{font-size:1.3rem;margin:0 0 .75rem}h1.dim{margin:0}
.prompt{font-size:1.1rem}.prompt>:first-child,.context>:first-child{margin-top:0}
.context{border-top:1px solid var(--line);margin-top:1rem;padding-top:1rem;color:var(--dim)}
.dim,.hint{color:var(--dim);font-size:.9rem;font-weight:400}
.hint,.wrong{display:block}.wrong{color:var(--wrong);font-weight:600}
pre{background:var(--code);border:1px solid var(--line);border-radius:8px;padding:.8rem 1rem;
white-space:pre-wrap;font:.88rem/1.5 ui-monospace,Menlo,Consolas,monospace}
pre b{font-weight:700}
a{color:var(--go)}
table{border-collapse:collapse}th,td{border:1px solid var(--line);padding:.3rem .6rem}
blockquote{margin:0;padding-left:1rem;border-left:3px solid var(--line)}
form{border-top:1px solid var(--line);margin-top:1.25rem;padding-top:1rem}
label,legend{display:block;margin:.9rem 0 .3rem;font-weight:600}
fieldset{border:0;margin:0;padding:0}legend{padding:0}
.choice{display:flex;gap:.6rem;align-items:baseline;font-weight:400;margin:.4rem 0;
padding:.55rem .8rem;border:1px solid var(--line);border-radius:8px;cursor:pointer}
input[type=text],input[type=date],textarea{width:100%;padding:.55rem .7rem;color:inherit;
background:var(--card);border:1px solid var(--line);border-radius:8px;font:inherit}
textarea[name=arguments]{font:.88rem/1.5 ui-monospace,Menlo,Consolas,monospace}
input:focus-visible,textarea:focus-visible,button:focus-visible,summary:focus-visible{
outline:3px solid var(--go);outline-offset:2px}
.buttons{display:flex;gap:.75rem;flex-wrap:wrap}
button{margin:1rem 0 .5rem;padding:.65rem 1.4rem;min-height:44px;border-radius:8px;font:inherit;
font-weight:600;cursor:pointer;border:1px solid var(--go);background:var(--go);color:var(--go-text)}
button.deny{background:transparent;border-color:var(--deny);color:var(--deny)}
details{margin-top:.75rem}summary{cursor:pointer;color:var(--dim)}
"""
