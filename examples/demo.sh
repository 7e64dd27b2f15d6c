#!/bin/sh
# The main job, end to end, on a made-up world: raw files -> facts -> cleaned facts -> one video to look at.
set -e
out=${1:-demo}
rm -rf "$out"
say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }

say questree synth --videos 200 --seed 1 --out "$out/world"
say questree ingest action-genome "$out/world" --out "$out/run"
say questree augment "$out/run"
say questree show "$out/run"
say questree program read "Exists(blanket, Iterate(Localize(while, holding a pillow), Filter(frame, [objects])))" --notation agqa
say questree synth images --images 200 --seed 1 --out "$out/pictures"
say questree ingest gqa "$out/pictures" --out "$out/pictures-run"

printf '\nWhere to look:\n'
printf '  %-28s %s\n' "$out/world" "raw files as Charades and Action Genome release them, the clean truth in truth/" \
                      "$out/run/facts" "cleaned facts, one Parquet file per table" \
                      "$out/run/ledger.json" "what every cleaning rule changed" \
                      "docs/" "one page per task"
