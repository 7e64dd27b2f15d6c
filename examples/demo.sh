#!/bin/sh
# The main job, end to end, on a made-up world: raw files -> facts -> cleaned facts -> questions, and one of each to look at.
set -e
out=${1:-demo}
rm -rf "$out"
say() { printf '\n$ %s\n' "$*"; "$@"; }

say questree synth --videos 60 --seed 1 --out "$out/world"
say questree ingest action-genome "$out/world" --out "$out/run"
say questree augment "$out/run"
say questree show "$out/run"
say questree generate "$out/run" --text --shard 20
first=$(ls "$out/run/questions" | head -n 1)
say questree show "$out/run" "$(questree show "$out/run" --json "$out/video.json" --quiet; sed -n 's/^ *"id": "\([^"]*\)".*/\1/p' "$out/video.json" | head -n 1)-1000"
say questree synth images --images 200 --seed 1 --out "$out/pictures"
say questree ingest gqa "$out/pictures" --out "$out/pictures-run"

printf '\nWhere to look:\n'
printf '  %-24s %s\n' "$out/world" "raw files as Charades and Action Genome release them; the clean truth in truth/" \
                      "$out/run/facts" "cleaned facts, one Parquet file per table" \
                      "$out/run/ledger.json" "what every cleaning rule changed" \
                      "$out/run/questions" "every question, as columns ($first/ is the first shard), with text" \
                      "docs/" "one page per task"
