package lab

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// polynomial fits c[0] + c[1]·x + … + c[degree]·x^degree to y by least squares. It returns c and
// the share of the variance that the polynomial explains (R², which is 1 if it goes through every
// point). The values in x must be positive, and more than `degree` of them must be different.
func polynomial(x, y []float64, degree int) (c []float64, r2 float64, err error) {
	if len(x) <= degree {
		return nil, 0, errors.New("too few points for a polynomial of that degree")
	}
	most := 0.0 // powers of x/most stay near 1, so the problem is well conditioned
	for _, v := range x {
		most = max(most, v)
	}
	a := mat.NewDense(len(x), degree+1, nil)
	for i, v := range x {
		for k := range degree + 1 {
			a.Set(i, k, math.Pow(v/most, float64(k)))
		}
	}
	var qr mat.QR
	qr.Factorize(a)
	var solved mat.VecDense
	if err := qr.SolveVecTo(&solved, false, mat.NewVecDense(len(y), y)); err != nil {
		return nil, 0, err
	}
	c = make([]float64, degree+1)
	for k := range c {
		c[k] = solved.AtVec(k) / math.Pow(most, float64(k))
	}
	estimates := make([]float64, len(x))
	for i, v := range x {
		estimates[i] = at(c, v)
	}
	r2 = 1
	if stat.Variance(y, nil) > 0 {
		r2 = stat.RSquaredFrom(estimates, y, nil)
	}
	return c, r2, nil
}

// at evaluates a polynomial.
func at(c []float64, x float64) float64 {
	v := 0.0
	for k := len(c) - 1; k >= 0; k-- {
		v = v*x + c[k]
	}
	return v
}

// fit returns a Fit of rows, together with a formula's coefficients; formula and terms are nil if
// there is no formula. It returns false if there are too few rows to distinguish the powers.
func fit(f Fit, x, y []float64, degree int, formula []float64, terms []string) (Fit, bool) {
	c, r2, err := polynomial(x, y, degree)
	if err != nil || len(x) < degree+2 {
		return Fit{}, false
	}
	f.From, f.To, f.R2 = int(x[0]), int(x[len(x)-1]), r2
	end := x[len(x)-1]
	whole := at(c, end)
	for k := range c {
		if math.Abs(c[k]*math.Pow(end, float64(k))) < 1e-12*math.Abs(whole) {
			c[k] = 0 // only rounding errors are left
		}
		p := Power{Power: k, Fitted: c[k], Share: finiteOr(c[k]*math.Pow(end, float64(k))/whole, 0)}
		if formula != nil {
			p.Formula, p.Term = &formula[k], terms[k]
		}
		f.Parts = append(f.Parts, p)
	}
	return f, true
}
