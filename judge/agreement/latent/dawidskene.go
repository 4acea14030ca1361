package latent

import (
	"fmt"
	"math"
)

// Model is a state of Dawid and Skene's estimation (1979).
type Model struct {
	// Priors are the shares of the classes, Errors[r][k][l] how often rater r
	// says l where the truth is k. A class without mass has a row of zeros in
	// Errors unless smoothing gives it one.
	Priors []float64
	Errors [][][]float64
	// Posterior is the probability of each class for each item.
	Posterior [][]float64
	// LogLikelihood is that of the labels under Priors and Errors.
	LogLikelihood float64
	Iterations    int
	// Converged says that the last step changed the likelihood by less than the
	// tolerance.
	Converged bool

	votes     Votes
	smoothing float64
}

// Options of DawidSkene.
type Options struct {
	// Smoothing is added to every count of Errors: 0 is maximum likelihood, 0.01
	// to 1 keeps small samples from claiming certainty.
	Smoothing float64
	// Tolerance ends the steps when the log-likelihood changes by less; 0 means
	// 1e-13. MaxSteps bounds them; 0 means 10,000.
	Tolerance float64
	MaxSteps  int
}

// Start is the state before the first step: each item's posterior is its share of
// votes, and priors and errors follow from that. An item without labels has equal
// shares. The error names what does not fit.
func Start(v Votes, smoothing float64) (Model, error) {
	_, classes, err := v.check()
	if err != nil {
		return Model{}, err
	}
	if !(smoothing >= 0) || math.IsInf(smoothing, 0) {
		return Model{}, fmt.Errorf("Dawid-Skene: a smoothing of %v is less than nothing", smoothing)
	}
	m := Model{votes: v, smoothing: smoothing, Posterior: make([][]float64, len(v))}
	for i, item := range v {
		p := make([]float64, classes)
		sum := 0.0
		for _, row := range item {
			for k, c := range row {
				p[k] += float64(c)
				sum += float64(c)
			}
		}
		for k := range p {
			if sum > 0 {
				p[k] /= sum
			} else {
				p[k] = 1 / float64(classes)
			}
		}
		m.Posterior[i] = p
	}
	m.maximise()
	return m, nil
}

// Step is one round of expectation and maximisation: posteriors from priors and
// errors, then those from the posteriors.
func (m Model) Step() Model {
	next := Model{votes: m.votes, smoothing: m.smoothing, Iterations: m.Iterations + 1,
		Posterior: make([][]float64, len(m.votes))}
	for i := range m.votes {
		logs := m.logs(i)
		top := logs[0]
		for _, l := range logs {
			top = max(top, l)
		}
		p := make([]float64, len(logs))
		sum := 0.0
		for k, l := range logs {
			p[k] = math.Exp(l - top)
			sum += p[k]
		}
		for k := range p {
			p[k] /= sum
		}
		next.Posterior[i] = p
	}
	next.maximise()
	return next
}

// logs are the log probabilities of item i's labels with each class.
func (m Model) logs(i int) []float64 {
	out := make([]float64, len(m.Priors))
	for k, p := range m.Priors {
		out[k] = math.Log(p)
		for r, row := range m.votes[i] {
			for l, c := range row {
				if c > 0 {
					out[k] += float64(c) * math.Log(m.Errors[r][k][l])
				}
			}
		}
	}
	return out
}

// maximise sets priors, errors and their likelihood from the posteriors.
func (m *Model) maximise() {
	raters, classes := len(m.votes[0]), len(m.votes[0][0])
	m.Priors = make([]float64, classes)
	m.Errors = make([][][]float64, raters)
	for r := range m.Errors {
		m.Errors[r] = make([][]float64, classes)
		for k := range m.Errors[r] {
			m.Errors[r][k] = make([]float64, classes)
		}
	}
	for i, p := range m.Posterior {
		for k := range p {
			m.Priors[k] += p[k] / float64(len(m.votes))
			for r, row := range m.votes[i] {
				for l, c := range row {
					m.Errors[r][k][l] += p[k] * float64(c)
				}
			}
		}
	}
	for _, rows := range m.Errors {
		for _, row := range rows {
			sum := 0.0
			for l := range row {
				row[l] += m.smoothing
				sum += row[l]
			}
			for l := range row {
				if sum > 0 {
					row[l] /= sum
				}
			}
		}
	}
	m.LogLikelihood = 0
	for i := range m.votes {
		logs := m.logs(i)
		top := logs[0]
		for _, l := range logs {
			top = max(top, l)
		}
		sum := 0.0
		for _, l := range logs {
			sum += math.Exp(l - top)
		}
		m.LogLikelihood += top + math.Log(sum)
	}
}

// DawidSkene steps from shares of votes until the likelihood settles. The error
// names what does not fit.
func DawidSkene(v Votes, o Options) (Model, error) {
	m, err := Start(v, o.Smoothing)
	if err != nil {
		return Model{}, err
	}
	if o.Tolerance <= 0 {
		o.Tolerance = 1e-13
	}
	if o.MaxSteps <= 0 {
		o.MaxSteps = 10_000
	}
	for m.Iterations < o.MaxSteps {
		next := m.Step()
		next.Converged = math.Abs(next.LogLikelihood-m.LogLikelihood) < o.Tolerance
		m = next
		if m.Converged {
			break
		}
	}
	return m, nil
}

// Best is the most probable class of each item, the lowest one among equals.
func (m Model) Best() []int {
	out := make([]int, len(m.Posterior))
	for i, p := range m.Posterior {
		for k := range p {
			if p[k] > p[out[i]] {
				out[i] = k
			}
		}
	}
	return out
}
