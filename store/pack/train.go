package pack

func TrainX(samples [][]byte, maxSize, gap, minNew int) []byte {
	const gram = 8
	hash := func(b []byte) uint64 {
		var v uint64
		for i := range gram {
			v = v<<8 | uint64(b[i])
		}
		return v
	}
	grams := map[uint64]int32{}
	for n, s := range samples {
		for i := 0; i+gram <= len(s); i++ {
			h := hash(s[i:])
			g, ok := grams[h]
			if !ok {
				grams[h] = int32(n)
			} else if g != int32(n) {
				grams[h] = -1
			}
		}
	}
	var out []byte
	have := map[uint64]bool{}
	for _, s := range samples {
		var fresh []bool = make([]bool, len(s))
		for i := 0; i+gram <= len(s); i++ {
			if h := hash(s[i:]); grams[h] < 0 && !have[h] {
				for k := i; k < i+gram; k++ {
					fresh[k] = true
				}
			}
		}
		for i := 0; i < len(s); {
			if !fresh[i] {
				i++
				continue
			}
			end, last := i, i
			for end < len(s) && end-last <= gap {
				if fresh[end] {
					last = end
				}
				end++
			}
			end = last + 1
			if end-i >= minNew {
				out = append(out, s[i:end]...)
				for k := i; k+gram <= end; k++ {
					have[hash(s[k:])] = true
				}
			}
			if len(out) >= maxSize {
				return out[:maxSize]
			}
			i = end
		}
	}
	return out
}
