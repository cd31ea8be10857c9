#!/bin/sh
# A second machine takes over: both machines on this one, in a temporary folder. Takes half a minute.
# Needs gatepost and litestream (0.5.17 or newer) in the path, or named by GATEPOST and GATEPOST_LITESTREAM, and curl.
set -eu
gatepost=${GATEPOST:-gatepost}
export GATEPOST_LITESTREAM=${GATEPOST_LITESTREAM:-litestream}
folder=$(mktemp -d)
first=$folder/first/gatepost.db second=$folder/second/gatepost.db
mkdir "$folder/first" "$folder/second"
running=
trap 'kill -9 $running 2>/dev/null || true; rm -rf "$folder"' EXIT

# A value of a flat JSON object: value NAME < JSON
value() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p" | head -n 1; }
say() { echo "== $*"; }

say "An event, with a gate, and a log that goes to a folder"
"$gatepost" demo --db "$first" >/dev/null
"$gatepost" client add gate --gate --role delegate-read --role device-read --json --db "$first" >"$folder/client.json"
"$gatepost" standby init --replica "$folder/replica" --db "$first"

# Starts a server on a file, on a free port, and sets url and server.
serve() {
    db=$1 && shift
    "$gatepost" serve --db "$db" --listen 127.0.0.1:0 --no-mdns --json "$@" >"$db.out" 2>"$db.log" &
    server=$! running="$running $!"
    until [ -s "$db.out" ]; do sleep 0.1; done
    url=$(value url <"$db.out")
}
sign_in() {
    token=$(curl -s "$url/api/v5/oauth/v2/token" -d grant_type=client_credentials \
        -d client_id="$(value clientId <"$folder/client.json")" \
        -d client_secret="$(value clientSecret <"$folder/client.json")" | value access_token)
}
# Sends the scan of a number, as a gate does: call PATH [BODY]
call() { curl -s "$url/api/v5$1" -H "Authorization: Bearer $token" -H 'Content-Type: application/json' ${2:+-d "$2"}; }
scan() { call /interaction/new/trial "{\"device\": $place, \"nonce\": \"scan-$1\", \"recordedAt\": 1795262400$2}"; }

say "The first machine: Litestream, and the server"
"$GATEPOST_LITESTREAM" replicate -config "$first.standby/litestream.yml" >"$folder/litestream.log" 2>&1 &
litestream=$! running="$running $!"
serve "$first" --replicated "$first.litestream.sock"
sign_in
place=$(call '/device/list?limit=1&fields=id' | sed -n 's/.*"data":\[{"id":\([0-9]*\).*/\1/p')
until "$gatepost" standby status --db "$first" >/dev/null 2>&1; do sleep 0.2; done
"$gatepost" standby status --db "$first"

say "Scans come; both programs die in the middle of them"
for number in 1 2 3 4 5; do scan $number "" >"$folder/scan-$number"; done
sleep 1
kill -STOP "$litestream"
for number in 6 7 8; do scan $number "" >"$folder/scan-$number"; done
covered=$(call /ping | value covered)
kill -9 "$litestream" "$server"
echo "Up to mark $covered the replica has everything; scans 6 to 8 are later, and the gate has kept them."

say "The second machine takes over"
"$gatepost" promote --config "$first.standby/litestream.yml" --db "$second"
serve "$second"
sign_in
echo "$(call /ping | value epoch) is the epoch now."

say "The gate sends again what was not covered, with the same nonce"
again=0
for number in 1 2 3 4 5 6 7 8; do
    if [ "$(value mark <"$folder/scan-$number")" -gt "$covered" ]; then
        scan $number ', "admitted": true' >/dev/null
        again=$((again + 1))
    fi
done
stored=$("$gatepost" export interactions --db "$second" --search '{"==": ["interactionType", "trial"]}' --format ndjson | grep -c trial)
echo "$again were sent again; $stored of 8 are stored."
[ "$again" -ge 3 ] && [ "$stored" -eq 8 ]
