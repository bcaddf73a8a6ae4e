"""`make quality`: error rates by language beside plain pywhispercpp, and the checks of every odd file.

Exits with 1 when English single-speaker recordings have more than four words more wrong than plain pywhispercpp
has on the same files, or when the check of an odd file does not hold.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict

from odd_checks import broken_checks
from recordings import Recording, odd_files, recordings
from runs import Peer, ours
from score import Score, score

from engine.backends.cpu import physical_cores
from engine.child import EngineProcess
from engine.folders import data_folder, models_folder
from engine.models.starter import ensure_starter
from engine.models.store import ModelStore
from engine.types import Options

_MORE_WRONG_WORDS = 4


def main() -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--model", default="base")
    parser.add_argument("--only", default="", help="files whose name contains this")
    parser.add_argument("--verbose", action="store_true", help="print every text")
    arguments = parser.parse_args()
    data = data_folder()
    ensure_starter(ModelStore(models_folder(data)))
    engine = EngineProcess(data)
    options = Options(model=arguments.model, backend=arguments.backend, words=True)
    try:
        speech_holds = _speech(engine, options, arguments)
        odd_hold = _odd(engine, options, arguments.only)
    finally:
        engine.close()
    return 0 if speech_holds and odd_hold else 1


def _speech(engine: EngineProcess, options: Options, arguments: argparse.Namespace) -> bool:
    """Error rates over speech/; whether English holds."""
    model = ModelStore(models_folder(data_folder())).resolve(options.model)
    plain = Peer("whispercpp", model, physical_cores())
    mine: dict[str, Score] = defaultdict(Score)
    theirs: dict[str, Score] = defaultdict(Score)
    for recording in recordings():
        if arguments.only not in recording.path.name:
            continue
        group = _group(recording)
        one = _compare(engine, plain, options, recording, arguments.verbose)
        mine[group] += one[0]
        theirs[group] += one[1]
    plain.close()
    print(f"\n{'':<22}{'units':>7}{'ours':>8}{'':>9}{'plain pywhispercpp':>20}")
    for group in sorted(mine):
        a, b = mine[group], theirs[group]
        print(f"{group:<22}{a.units:>7}{a.errors:>8}{a.rate:>9.1%}{b.errors:>11}{b.rate:>9.1%}")
    english = mine["en"].errors - theirs["en"].errors
    print(f"English, one speaker: {english:+d} words wrong against plain pywhispercpp (at most +{_MORE_WRONG_WORDS})")
    return english <= _MORE_WRONG_WORDS


def _compare(
    engine: EngineProcess, plain: Peer, options: Options, recording: Recording, verbose: bool
) -> tuple[Score, Score]:
    language = recording.language
    asked = Options(model=options.model, backend=options.backend, language=language, words=True)
    result, reference = ours(engine, recording.path, asked), plain.transcribe(recording.path, language)
    kind = recording.scored_as
    scores = score(result.text, recording.reference, kind), score(reference.text, recording.reference, kind)
    print(f"{recording.path.name:<38}{scores[0].errors:>4}{scores[1].errors:>5} of {scores[0].units:<5}{result.error}")
    if verbose:
        print(f"   ours   {result.text}\n   plain  {reference.text}\n   wanted {recording.reference}")
    return scores


def _group(recording: Recording) -> str:
    if recording.language == "auto":
        return "several languages"
    return recording.language if recording.speakers == 1 else f"{recording.language}, several voices"


def _odd(engine: EngineProcess, options: Options, only: str) -> bool:
    """The checks of odd/; whether all hold."""
    hold = True
    print()
    for odd in odd_files():
        if only not in odd.path.name:
            continue
        result = ours(engine, odd.path, options)
        broken = broken_checks(odd, result)
        hold = hold and not broken
        print(f"{odd.path.name:<38}{odd.check:<32}{'NO: ' + '; '.join(broken) if broken else 'holds'}", flush=True)
    return hold


if __name__ == "__main__":
    sys.exit(main())
