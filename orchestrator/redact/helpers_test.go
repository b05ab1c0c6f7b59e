package redact

import "encoding/json"

// encodings are the texts of a value's literals.
func encodings(value string) (all []string) {
	for _, l := range literals(value) {
		all = append(all, string(l.text))
	}
	return all
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
