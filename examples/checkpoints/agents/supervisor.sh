#!/bin/sh
# A Supervisor that stays for the whole run: it reads one JSON object a line, answers each with one line, and remembers between them
# how well the work stood before. It checks that each task in the scope has left lines of five words at least.
set -u
before=none
while read -r request; do
	case $request in
	'{"type":"init"'*)
		echo '{"type":"ready","message":"I count words"}' ;;
	'{"type":"checkpoint_request"'*)
		id=${request#*'"task_id":"'} id=${id%%'"'*}
		scope=${request#*'"scope":['} scope=${scope%%']'*}
		found='' sep=''
		for task in $(printf '%s\n' "$scope" | tr -d '"' | tr ',' ' '); do
			file=out/$(basename "$task" .md).txt lines=0 short=0
			while read -r _ _ _ _ fifth; do
				lines=$((lines + 1))
				[ -n "$fifth" ] || short=$((short + 1))
			done <"$file" || found="$found$sep\"$file is missing\"" sep=,
			[ "$short" -eq 0 ] || found="$found$sep\"$file: $short of $lines lines are short\"" sep=,
		done
		verdict=pass score=1 trend=stable
		[ -z "$found" ] || verdict=warn score=0.6
		case $before$verdict in passwarn) trend=declining ;; warnpass) trend=improving ;; esac
		before=$verdict
		printf '{"type":"checkpoint_reply","task_id":"%s","verdict":"%s","score":%s,"key_findings":[%s],"risks":[],"quality_trend":"%s"}\n' \
			"$id" "$verdict" "$score" "$found" "$trend" ;;
	'{"type":"shutdown_request"'*)
		id=${request#*'"request_id":"'}
		printf '{"type":"shutdown_response","request_id":"%s","approve":true}\n' "${id%%'"'*}"
		exit ;;
	*)
		echo '{"type":"error","message":"I do not know this request"}' ;;
	esac
done
