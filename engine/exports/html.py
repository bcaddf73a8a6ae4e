"""One page for a browser, with nothing from elsewhere. Beside the recording, a click on a word plays it."""

from __future__ import annotations

from html import escape
from itertools import pairwise
from urllib.parse import quote

from engine.exports.facts import facts
from engine.exports.paragraphs import Paragraph, clock, one_line, paragraphs
from engine.exports.scripts import between
from engine.exports.word_times import visible, with_own_words
from engine.types import Segment, Transcript

_PAGE = """<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ max-width: 40em; margin: 2em auto 6em; padding: 0 1em; font: 1.05em/1.6 Georgia, serif; }}
h1 {{ font-size: 1.5em; }}
.facts, button {{ font-family: system-ui, sans-serif; font-size: .8em; opacity: .7; }}
button {{ border: 0; padding: 0 .5em 0 0; background: none; color: inherit; cursor: pointer; }}
b {{ display: block; font-family: system-ui, sans-serif; font-size: .85em; }}
.plays [data-at] {{ cursor: pointer; }}
.plays span:hover {{ text-decoration: underline; }}
.now {{ background: #fd06; border-radius: .2em; }}
audio {{ position: fixed; bottom: 0; left: 0; width: 100%; display: none; }}
.plays audio {{ display: block; }}
</style>
</head>
<body>
<h1>{title}</h1>
<p class="facts">{facts}</p>
{text}
<audio controls preload="metadata" src="{source}"></audio>
<script>
const audio = document.querySelector("audio");
const pieces = [...document.querySelectorAll("span[data-at]")];
const starts = pieces.map(piece => Number(piece.dataset.at));
let now;
audio.addEventListener("loadedmetadata", () => document.body.classList.add("plays"));
if (audio.readyState > 0) document.body.classList.add("plays");
document.addEventListener("click", event => {{
  const piece = event.target.closest("[data-at]");
  if (!piece || !audio.readyState || String(getSelection())) return;
  audio.currentTime = Number(piece.dataset.at) / 1000;
  audio.play();
}});
audio.addEventListener("timeupdate", () => {{
  let low = 0, high = starts.length;
  while (low < high) {{
    const middle = (low + high) >> 1;
    if (starts[middle] <= audio.currentTime * 1000 + 50) low = middle + 1; else high = middle;
  }}
  now?.classList.remove("now");
  now = pieces[low - 1];
  now?.classList.add("now");
}});
</script>
</body>
</html>
"""


def write(transcript: Transcript) -> str:
    """Give the page; the recording is looked for beside it, by its own name."""
    return _PAGE.format(
        language=escape(transcript.language or ""),
        title=escape(one_line(transcript.source)) or "Transcript",
        facts=escape(" · ".join(facts(transcript))),
        text="\n".join(map(_paragraph, paragraphs(transcript.segments))),
        source=escape(quote(one_line(transcript.source))),
    )


def _paragraph(part: Paragraph) -> str:
    name = f"<b>{escape(part.speaker)}</b>" if part.speaker else ""
    time = f'<button type="button" data-at="{part.start}">{clock(part.start)}</button>'
    said = _said(part.segments[0])
    for before, segment in pairwise(part.segments):
        said += between(before.text, segment.text) + _said(segment)
    return f'<p dir="auto">{name}{time}{said}</p>'


def _said(segment: Segment) -> str:
    """Each word with its time; the whole segment where words were not timed."""
    words = with_own_words(segment).words
    if not words:
        return _timed(segment.start, segment.text)
    places = [index for index, char in enumerate(segment.text) if char != " "]
    passed, cuts = 0, [0]
    for word in words[:-1]:
        passed += len(visible(word.text))
        cuts.append(places[passed])
    ends = [*cuts[1:], len(segment.text)]
    return "".join(_timed(word.start, segment.text[cut:end]) for word, cut, end in zip(words, cuts, ends, strict=True))


def _timed(start: int, text: str) -> str:
    space = " " if text.endswith(" ") else ""
    return f'<span data-at="{start}">{escape(text.rstrip(" "))}</span>{space}'
