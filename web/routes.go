package web

import (
	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/static"
	"github.com/countersign/countersign/store"
)

// routes is the map of everything this server answers.
func (s *Server) routes() {
	e := s.echo
	e.IPExtractor = echo.ExtractIPDirect()

	e.GET(static.Prefix+"*", echo.WrapHandler(static.Handler()))
	e.GET("/healthz", s.healthy)
	e.GET("/readyz", s.ready)
	e.GET("/events", s.streamEvents)

	open := e.Group("", s.csrf())
	open.GET("/login", s.showLogin)
	open.POST("/login", s.login, signInLimit())
	open.POST("/preferences/theme", s.changeTheme)
	if s.cfg.Demo {
		open.GET("/login/demo", s.loginDemo)
	}

	p := e.Group("", s.csrf(), s.person)
	p.POST("/logout", s.logout)
	p.GET("/", s.showOverview)
	p.GET("/queue", s.listQueue)
	// An address that claims: GET so that a bookmark and the key G N work, as
	// the contract has it; it changes nothing that a second call would change
	// again, and a prefetching browser is told apart by its own header.
	p.GET("/queue/next", s.claimNext)
	p.POST("/queue/next", s.claimNext, s.needs(store.ClaimReviews, onQueue))
	p.GET("/reviews/:id", s.showReview)
	p.POST("/reviews/:id/claim", s.claimReview, s.needs(store.ClaimReviews, onOne("review")))
	p.POST("/reviews/:id/renew", s.renewClaim, s.needs(store.RenewClaims, onOne("review")))
	p.POST("/reviews/:id/release", s.releaseClaim, s.needs(store.ReleaseClaims, onOne("review")))
	p.POST("/reviews/:id/skip", s.skipReview, s.needs(store.SkipReviews, onOne("review")))
	p.POST("/reviews/:id/decision", s.decideReview, s.needs(store.DecideReviews, onOne("review")))
	p.POST("/reviews/:id/reopen", s.reopenReview, s.needs(store.ReopenReviews, onOne("review")))
	p.GET("/evaluations", s.listEvaluations)
	p.GET("/evaluations/:id", s.showEvaluation)
	p.POST("/evaluations/:id/retry", s.retryEvaluation, s.needs(store.RetryEvaluations, onOne("evaluation")))
	p.POST("/evaluations/:id/request", s.requestReview, s.needs(store.RequestReviews, onOne("evaluation")))
	p.POST("/evaluations/:id/expose", s.exposeEvaluation, s.needs(store.ExposeEvaluation, onOne("evaluation")))
	p.GET("/traces/:id", s.showTrace)
	p.POST("/traces/:id/judge", s.judgeTrace, s.needs(store.QueueEvaluation, onProject))
	p.GET("/runs", s.listRuns)
	p.GET("/runs/:name", s.showRun)
	p.POST("/runs/:name/retry", s.retryRun, s.needs(store.RetryRuns, onProject))
	p.POST("/runs/:name/budget", s.setRunBudget, s.needs(store.SetRunBudgets, onProject))
	p.GET("/judges", s.listJudges)
	p.GET("/judges/:name", s.showJudge)
	p.GET("/judges/:name/health", s.showJudgeHealth)
	p.GET("/judges/:name/rerun", s.showRerun)
	p.POST("/judges/:name/rerun", s.startRerun, s.needs(store.StartReruns, onProject))
	p.POST("/reruns/:id/stop", s.stopRerun, s.needs(store.StopReruns, onOne("rerun")))
	p.GET("/calibration", s.listCalibrations)
	p.GET("/calibration/:judge", s.showCalibration)
	p.GET("/policy", s.showPolicy)
	p.GET("/policy.yaml", s.policyYAML)
	p.POST("/policy", s.changePolicy, s.needs(store.ChangePolicy, onProject))
	p.POST("/policy/dry-run", s.dryRunPolicy, s.needs(store.DryRunPolicy, onProject))
	p.POST("/policy/requeue", s.requeueRefused, s.needs(store.RequeueRefusals, onProject))
	p.GET("/audit", s.listAudit)
	p.GET("/import", s.showImport)
	p.POST("/import", s.importFile, s.needs(store.ImportTraces, onProject))
	p.GET("/preferences", s.showPreferences)
	p.POST("/preferences", s.changePreferences)
	p.GET("/help", s.showHelp)

	api := e.Group("/api/v1", s.bearer)
	api.POST("/traces", s.apiPostTraces, s.needs(store.ImportTraces, onProject))
	api.GET("/traces/:id", s.apiGetTrace)
	api.GET("/evaluations", s.apiListEvaluations)
	api.GET("/evaluations/:id", s.apiGetEvaluation)
	api.POST("/evaluations/:id/retry", s.apiRetryEvaluation, s.needs(store.RetryEvaluations, onOne("evaluation")))
	api.GET("/queue", s.apiListQueue)
	api.POST("/queue/claim", s.apiClaim, s.needs(store.ClaimReviews, onQueue))
	api.POST("/reviews/:id/renew", s.apiRenew, s.needs(store.RenewClaims, onOne("review")))
	api.POST("/reviews/:id/release", s.apiRelease, s.needs(store.ReleaseClaims, onOne("review")))
	api.POST("/reviews/:id/skip", s.apiSkip, s.needs(store.SkipReviews, onOne("review")))
	api.POST("/reviews/:id/decision", s.apiDecide, s.needs(store.DecideReviews, onOne("review")))
	api.GET("/calibration", s.apiCalibration)
	api.GET("/audit", s.apiListAudit)
	api.GET("/runs/:name", s.apiGetRun)
	api.POST("/runs/:name/retry", s.apiRetryRun, s.needs(store.RetryRuns, onProject))
	api.POST("/runs/:name/budget", s.apiSetRunBudget, s.needs(store.SetRunBudgets, onProject))
	api.POST("/traces/:id/judge", s.apiJudgeTrace, s.needs(store.QueueEvaluation, onProject))
	api.GET("/judges", s.apiListJudges)
	api.GET("/judges/:name", s.apiGetJudge)
	api.GET("/judges/:name/health", s.apiJudgeHealth)
	// Telling what a re-run would cost is for more people than starting it.
	api.POST("/judges/:name/rerun", s.apiRerun, s.needs(store.EstimateReruns, onProject))
	api.GET("/reruns", s.apiListReruns)
	api.POST("/reruns/:id/stop", s.apiStopRerun, s.needs(store.StopReruns, onOne("rerun")))
	api.GET("/policy", s.apiGetPolicy)
	api.POST("/policy", s.apiSetPolicy, s.needs(store.ChangePolicy, onProject))
	api.POST("/policy/dry-run", s.apiDryRunPolicy, s.needs(store.DryRunPolicy, onProject))
	e.GET("/api/v1/openapi.json", s.apiDescription)
}
