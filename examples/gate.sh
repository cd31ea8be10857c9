#!/bin/sh
# The essentials of a gate with nothing but curl: a token, a look-up, a check-in, a batch.
#
#   GATE_CLIENT_ID=… GATE_CLIENT_SECRET=… ./gate.sh BARCODE DEVICE [URL]
#   GATE_CLIENT_ID=… GATE_CLIENT_SECRET=… ./gate.sh L0000001 code:load-session-001
set -eu

barcode=${1:?barcode} device=${2:?device, such as code:hall-1} url=${3:-http://127.0.0.1:8080}
api=$url/api/v5

case $barcode$device in
*[\"\\]*) echo 'quotes and backslashes need a JSON encoder' >&2; exit 2 ;;
esac

# The value of a text property in a JSON answer. For a real gate use a JSON parser.
property() {
    sed -n "s/.*\"$1\" *: *\"\([^\"]*\)\".*/\1/p"
}

# A code as it may stand in a path: every byte that is not a letter or digit as %XX.
encoded() {
    printf %s "$1" | od -An -v -tx1 | tr -d ' \n' | sed 's/../%&/g'
}

# api_call METHOD PATH [JSON]: prints the answer, and the status on a line of its own.
api_call() {
    method=$1 path=$2
    shift 2
    curl --silent --show-error --max-time 5 --request "$method" "$api$path" \
        --header "Authorization: Bearer $token" --header 'Content-Type: application/json' \
        ${1:+--data "$1"} --write-out '\n%{http_code}\n'
}

# A token is good for an hour; a gate that gets 401 fetches a new one. The secret goes in by
# standard input, so that it does not stand in the list of processes.
token=$(printf 'grant_type=client_credentials&client_id=%s&client_secret=%s' \
    "${GATE_CLIENT_ID:?}" "${GATE_CLIENT_SECRET:?}" |
    curl --silent --show-error --max-time 5 --data @- "$url/api/oauth/v2/token" |
    property access_token)
[ -n "$token" ] || { echo 'no token: is the server there, are id and secret right?' >&2; exit 1; }

echo 'Who is it?'
api_call GET "/delegate/barcode:$(encoded "$barcode")?fields=firstName,lastName"

echo 'Check-in. A second run with the same nonce would be answered as the first one was.'
nonce=gate-$(date +%s)-$$
api_call POST /interaction/new/check-in \
    "{\"firstDelegate\":\"barcode:$barcode\",\"firstDevice\":\"$device\",
      \"recordedAt\":$(date +%s),\"nonce\":\"$nonce\"}"

echo 'A batch, as after a time offline: out again, and in again as the gate decided by itself.'
api_call POST /interaction/batch "{\"interactions\":{
    \"a\":{\"interactionType\":\"check-out\",\"firstDelegate\":\"barcode:$barcode\",
        \"firstDevice\":\"$device\",\"nonce\":\"$nonce-a\"},
    \"b\":{\"interactionType\":\"check-in\",\"firstDelegate\":\"barcode:$barcode\",
        \"firstDevice\":\"$device\",\"nonce\":\"$nonce-b\",\"admitted\":true}}}"
