package agent

import "fmt"

// Size renders a number of bytes: 512 B, 64 MiB, 1 GiB.
func Size(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB"}
	i := 0
	for ; i < len(units)-1 && n >= 1024 && n%1024 == 0; i++ {
		n /= 1024
	}
	return fmt.Sprintf("%d %s", n, units[i])
}
