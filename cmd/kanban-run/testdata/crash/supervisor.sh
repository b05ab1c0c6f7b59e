#!/bin/sh
# The resident supervisor of the crash tests: sh supervisor.sh MARKER. It writes nothing, and starts a process
# beside itself before it is ready.
set -u
marker=$1
while read -r line; do
	case $line in
	*'"type":"init"'*)
		sh -c 'sleep 60; :' "$marker" >/dev/null 2>&1 </dev/null &
		echo '{"type":"ready","message":"here"}' ;;
	*'"type":"checkpoint_request"'*)
		id=${line#*'"task_id":"'}
		printf '{"type":"checkpoint_reply","task_id":"%s","verdict":"pass","score":1,"key_findings":[],"risks":[],"quality_trend":"stable"}\n' "${id%%'"'*}" ;;
	*'"type":"shutdown_request"'*)
		id=${line#*'"request_id":"'}
		printf '{"type":"shutdown_response","request_id":"%s","approve":true}\n' "${id%%'"'*}"
		exit ;;
	esac
done
