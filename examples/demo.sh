#!/bin/sh
# The main job, end to end, on a made-up world: raw files -> cleaned facts -> questions -> a balanced benchmark with splits
# and every question taken apart; then one video, one question and one DAG to look at, and the released file formats.
set -e
out=${1:-demo}
rm -rf "$out"
say() { printf '\n$ %s\n' "$*"; "$@"; }

say questree synth --videos 60 --seed 1 --out "$out/world"
say questree build "$out/world" --out "$out/run" --tables
say questree show "$out/run"

questree show "$out/run" --json "$out/video.json" --quiet
video=$(sed -n 's/^ *"id": "\([^"]*\)".*/\1/p' "$out/video.json" | head -n 1)
say questree show "$out/run" "$video-1000"
say questree show "$out/run" "$video-1000" --dag --svg "$out/dag.svg"

say questree answer "$out/run" --model composition-noise --noise 0.2
say questree score decomp "$out/run" --model composition-noise
say questree report "$out/run" --models composition-noise --split all --out "$out/report.html"

say questree export agqa "$out/run" --out "$out/agqa"
say questree export decomp "$out/run" --out "$out/decomp"
say questree program read "Exists(blanket, Iterate(Localize(while, holding a pillow), Filter(frame, [objects])))" --notation agqa
say questree synth images --images 200 --seed 1 --out "$out/pictures"
say questree ingest gqa "$out/pictures" --out "$out/pictures-run"
say questree synth situations --images 60 --seed 1 --out "$out/situations"
say questree ingest imsitu "$out/situations" --out "$out/pictures-run" --add
say questree covr generate "$out/pictures-run" --questions 3000
say questree covr balance "$out/pictures-run"
say questree covr splits "$out/pictures-run"
say questree covr decompose "$out/pictures-run"
say questree answer "$out/pictures-run" --model shortcut
say questree score decomp "$out/pictures-run" --model shortcut

printf '\nWhere to look:\n'
printf '  %-24s %s\n' "$out/world" "raw files as Charades and Action Genome release them; the clean truth in truth/" \
                      "$out/run/facts" "cleaned facts, one Parquet file per table" \
                      "$out/run/ledger.json" "what every cleaning rule changed" \
                      "$out/run/questions" "every question, as columns, with text" \
                      "$out/run/balanced" "the selection whose answers cannot be guessed" \
                      "$out/dag.svg" "one question taken apart" \
                      "$out/report.html" "a bot that fails at composing, in tables, plots and worked failures" \
                      "$out/pictures-run/covr" "questions about sets of images, balanced, split and taken apart" \
                      "questree serve $out/run" "all of it in the browser" \
                      "$out/agqa, $out/decomp" "the benchmark in the released file formats" \
                      "docs/" "one page per task"
