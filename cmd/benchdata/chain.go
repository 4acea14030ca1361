package main

import (
	"math/rand/v2"
	"strings"

	"github.com/countersign/countersign/judge/evidence"
)

// chain is a Markov chain of the second order over words: each word follows the
// two before it as often as in the texts it was made of. What it says is new,
// and about as hard to compress as they are; sentences put together from whole
// ones would not be.
type chain struct {
	words   []string
	counts  []bool // the word has a number in it, or is one
	number  map[string]int32
	starts  [][2]int32           // the first two words of sentences
	follow  map[[2]int32][]int32 // by two words, the next one; end at a sentence's end
	follow1 map[int32][]int32    // by one word
}

// end stands for the end of a sentence.
const end = -1

// loosely is how often the next word looks at one word before it only. The
// texts are small: without this the chain says whole sentences of theirs again,
// and a dictionary made of a few traces would know the others.
const loosely = 0.2

func newChain() *chain {
	return &chain{number: map[string]int32{}, follow: map[[2]int32][]int32{}, follow1: map[int32][]int32{}}
}

// learn takes in a text, sentence by sentence.
func (c *chain) learn(text string) {
	var sentence []int32
	for _, word := range strings.Fields(text) {
		n, known := c.number[word]
		if !known {
			n = int32(len(c.words))
			c.number[word] = n
			c.words = append(c.words, word)
			c.counts = append(c.counts, isNumber(word))
		}
		sentence = append(sentence, n)
		if strings.ContainsAny(word[len(word)-1:], ".!?") {
			c.take(sentence)
			sentence = nil
		}
	}
	c.take(sentence)
}

func (c *chain) take(sentence []int32) {
	if len(sentence) < 4 { // a heading, or the end of an abbreviation
		return
	}
	c.starts = append(c.starts, [2]int32{sentence[0], sentence[1]})
	for i := 1; i < len(sentence); i++ {
		next := int32(end)
		if i+1 < len(sentence) {
			next = sentence[i+1]
		}
		pair := [2]int32{sentence[i-1], sentence[i]}
		c.follow[pair] = append(c.follow[pair], next)
		c.follow1[sentence[i]] = append(c.follow1[sentence[i]], next)
	}
}

// longest is how many words a sentence has at most.
const longest = 60

// isNumber says whether a check of numbers could see one in the word.
func isNumber(word string) bool {
	return strings.ContainsAny(word, "0123456789") || len(evidence.Numbers(word)) > 0
}

// sentence says one sentence.
func (c *chain) sentence(r *rand.Rand) string {
	said, _ := c.say(r)
	return said
}

// plain says a sentence without numbers.
func (c *chain) plain(r *rand.Rand) string {
	for {
		if said, numbers := c.say(r); !numbers {
			return said
		}
	}
}

func (c *chain) say(r *rand.Rand) (said string, numbers bool) {
	pair := c.starts[r.IntN(len(c.starts))]
	numbers = c.counts[pair[0]] || c.counts[pair[1]]
	var b strings.Builder
	b.WriteString(c.words[pair[0]])
	b.WriteByte(' ')
	b.WriteString(c.words[pair[1]])
	for range longest {
		next := c.follow[pair]
		if len(next) == 0 || r.Float64() < loosely {
			next = c.follow1[pair[1]]
		}
		if len(next) == 0 {
			break
		}
		word := next[r.IntN(len(next))]
		if word == end {
			break
		}
		b.WriteByte(' ')
		b.WriteString(c.words[word])
		numbers = numbers || c.counts[word]
		pair = [2]int32{pair[1], word}
	}
	return b.String(), numbers
}

// text says sentences until it has about so many bytes.
func (c *chain) text(r *rand.Rand, bytes int) string {
	var b strings.Builder
	for b.Len() < bytes {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(c.sentence(r))
	}
	return cut(b.String(), bytes+bytes/8)
}

// cut shortens a text to at most so many bytes, at a space.
func cut(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	if i := strings.LastIndexByte(text[:bytes], ' '); i > 0 {
		return text[:i]
	}
	return strings.ToValidUTF8(text[:bytes], "")
}
