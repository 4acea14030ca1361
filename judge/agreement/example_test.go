package agreement_test

import (
	"encoding/json"
	"fmt"

	"github.com/countersign/countersign/judge/agreement"
)

func ExampleCohenKappa() {
	// Rows are people, columns the judge.
	m, err := agreement.NewConfusion([]string{"Yes", "No"}, [][]int{{461, 96}, {56, 376}})
	if err != nil {
		fmt.Println(err)
		return
	}
	k := agreement.CohenKappa(m, agreement.Identity(2), 0.95)
	fmt.Printf("kappa %.4f (%.2f to %.2f), n = %d\n", k.Value, k.Low, k.High, k.N)
	// Output: kappa 0.6908 (0.64 to 0.73), n = 989
}

func ExampleCohenKappa_undefined() {
	m, err := agreement.NewConfusion([]string{"pass", "fail"}, [][]int{{20, 0}, {0, 0}})
	if err != nil {
		fmt.Println(err)
		return
	}
	k := agreement.CohenKappa(m, agreement.Identity(2), 0.95)
	body, _ := json.Marshal(k.Estimate)
	fmt.Println(string(body))
	// Output: {"value":null,"se":null,"ci_low":null,"ci_high":null,"ci_method":null,"n":20,"undefined":"both raters always said \"pass\", so chance alone would agree as often"}
}

func ExampleAgreement() {
	m, err := agreement.CountPairs([]string{"pass", "fail"},
		[]string{"pass", "pass", "fail", "fail"},
		[]string{"pass", "fail", "fail", "fail"})
	if err != nil {
		fmt.Println(err)
		return
	}
	a := agreement.Agreement(m, 0.95)
	fmt.Printf("%d of %d agree: %.2f (%.2f to %.2f)\n", m.Agreed(), a.N, a.Value, a.Low, a.High)
	// Output: 3 of 4 agree: 0.75 (0.30 to 0.95)
}
