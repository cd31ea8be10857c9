#!/bin/sh
# A head office and three venues, all on this machine, in a temporary folder. Takes half a minute.
# Needs gatepost in the path, or named by GATEPOST, and curl.
set -eu
gatepost=${GATEPOST:-gatepost}
folder=$(mktemp -d)
running=
trap 'kill -9 $running 2>/dev/null || true; rm -rf "$folder"' EXIT

# A value of a flat JSON object: value NAME < JSON
value() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p" | head -n 1; }
say() { echo "== $*"; }
# Waits for a command to succeed, for half a minute: wait_for WHAT COMMAND…
wait_for() {
    what=$1 && shift
    for _ in $(seq 300); do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.1
    done
    echo "it never happens: $what" >&2
    exit 1
}
# Starts a server: serve NAME COMMAND [OPTIONS]; sets url and server
serve() {
    name=$1 command=$2 && shift 2
    rm -f "$folder/$name.out"
    "$gatepost" "$command" --db "$folder/$name.db" --no-mdns --json "$@" >"$folder/$name.out" 2>"$folder/$name.log" &
    server=$! running="$running $!"
    wait_for "$name starts" test -s "$folder/$name.out"
    url=$(value url <"$folder/$name.out")
}

say "The head office has a list of attendees"
cat >"$folder/list.csv" <<'LIST'
barcode,firstName,lastName,delegateType
T-1,Ada,Lovelace,visitor
T-2,Grace,Hopper,visitor
T-3,Mary,Somerville,speaker
LIST
"$gatepost" import delegates "$folder/list.csv" --db "$folder/hub.db"
serve hub hub --listen 127.0.0.1:0
hub=$url

say "Three venues join it, each with a code of its own"
for venue in north south west; do
    "$gatepost" client add gate --role interaction-write --json --db "$folder/$venue.db" >"$folder/$venue.json"
    printf 'code,name,deviceType\ndoor,Door %s,session\n' "$venue" >"$folder/$venue.csv"
    "$gatepost" import devices "$folder/$venue.csv" --db "$folder/$venue.db"
    code=$("$gatepost" hub venue add "$venue" --json --db "$folder/hub.db" | value code)
    "$gatepost" head-office join "$hub" "$code" --db "$folder/$venue.db"
    serve "$venue" serve --listen 127.0.0.1:0
    eval "url_$venue=\$url"
done
has() { "$gatepost" export delegates --db "$folder/$1.db" --format csv | grep -q "$2"; }
for venue in north south west; do wait_for "the list is at $venue" has $venue T-3; done
echo "The list is at all three."

say "People come; one of them to two venues"
# Scans a ticket: scan VENUE TICKET
scan() {
    eval "url=\$url_$1"
    token=$(curl -s "$url/api/v5/oauth/v2/token" -d grant_type=client_credentials \
        -d client_id="$(value clientId <"$folder/$1.json")" \
        -d client_secret="$(value clientSecret <"$folder/$1.json")" | value access_token)
    curl -sf "$url/api/v5/interaction/new/check-in" -H "Authorization: Bearer $token" \
        -H 'Content-Type: application/json' -d "{\"delegate\": \"barcode:$2\", \"device\": \"code:door\"}" >/dev/null
}
scan north T-1
scan south T-1
scan south T-2
report() { "$gatepost" hub report "$1" --json --db "$folder/hub.db"; }
# The rows of a report that have a text: rows REPORT TEXT NUMBER
rows() { [ "$(report "$1" | grep -o "$2" | wc -l)" -eq "$3" ]; }
wait_for "the hub has all check-ins" rows conflicts T-1 2
report attendance
echo "T-1 was admitted at two venues, and is listed as a conflict:"
report conflicts

say "The line is cut: the hub is gone. Check-ins go on."
kill -9 $(echo "$running" | cut -d ' ' -f 2)
scan west T-3
say "The hub comes back, and gets what it lacks"
serve hub hub --listen "${hub#http://}"
wait_for "the check-in at west arrives" rows attendance "Door west" 1
report attendance

say "Both change the same: the venue's value stays"
printf 'barcode,company\nT-2,Navy\n' >"$folder/change.csv"
"$gatepost" import delegates "$folder/change.csv" --key barcode --db "$folder/south.db"
printf 'barcode,company\nT-2,Harvard\n' >"$folder/change.csv"
"$gatepost" import delegates "$folder/change.csv" --key barcode --db "$folder/hub.db"
kept() { "$gatepost" head-office status --db "$folder/south.db" | grep -q Harvard; }
wait_for "south lists the difference" kept
wait_for "north takes it over" has north Harvard
has south Navy
"$gatepost" head-office status --db "$folder/south.db"
echo "3 venues, 1 head office: done."
