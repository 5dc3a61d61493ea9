package breaker
import ("testing";"time";"math/rand/v2")
func TestZZ(t *testing.T){
 for _,p:=range []float64{.01,.03,.05,.1} {
 println("p",int(p*100))
 for seed:=range uint64(12) {
 r := rand.New(rand.NewPCG(seed, 99))
 w := raise(t, card, func(d time.Duration) fate {
   f := fate{after: tokens(r)}
   if r.Float64() < p { f= fate{after: tick, failed: true} }
   return f })
 w.run(2*time.Hour) }
 }
}
