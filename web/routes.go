package web

import (
	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/static"
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
	p.POST("/queue/next", s.claimNext)
	p.GET("/reviews/:id", s.showReview)
	p.POST("/reviews/:id/claim", s.claimReview)
	p.POST("/reviews/:id/renew", s.renewClaim)
	p.POST("/reviews/:id/release", s.releaseClaim)
	p.POST("/reviews/:id/skip", s.skipReview)
	p.POST("/reviews/:id/decision", s.decideReview)
	p.POST("/reviews/:id/reopen", s.reopenReview)
	p.GET("/evaluations", s.listEvaluations)
	p.GET("/evaluations/:id", s.showEvaluation)
	p.POST("/evaluations/:id/retry", s.retryEvaluation)
	p.POST("/evaluations/:id/request", s.requestReview)
	p.POST("/evaluations/:id/expose", s.exposeEvaluation)
	p.GET("/traces/:id", s.showTrace)
	p.POST("/traces/:id/judge", s.judgeTrace)
	p.GET("/runs", s.listRuns)
	p.GET("/runs/:name", s.showRun)
	p.POST("/runs/:name/retry", s.retryRun)
	p.POST("/runs/:name/budget", s.setRunBudget)
	p.GET("/judges", s.listJudges)
	p.GET("/judges/:name", s.showJudge)
	p.GET("/judges/:name/health", s.showJudgeHealth)
	p.GET("/judges/:name/rerun", s.showRerun)
	p.POST("/judges/:name/rerun", s.startRerun)
	p.POST("/reruns/:id/stop", s.stopRerun)
	p.GET("/calibration", s.listCalibrations)
	p.GET("/calibration/:judge", s.showCalibration)
	p.GET("/policy", s.showPolicy)
	p.GET("/policy.yaml", s.policyYAML)
	p.POST("/policy", s.changePolicy)
	p.POST("/policy/dry-run", s.dryRunPolicy)
	p.POST("/policy/requeue", s.requeueRefused)
	p.GET("/audit", s.listAudit)
	p.GET("/import", s.showImport)
	p.POST("/import", s.importFile)
	p.GET("/preferences", s.showPreferences)
	p.POST("/preferences", s.changePreferences)
	p.GET("/help", s.showHelp)

	api := e.Group("/api/v1", s.bearer)
	api.POST("/traces", s.apiPostTraces)
	api.GET("/traces/:id", s.apiGetTrace)
	api.GET("/evaluations", s.apiListEvaluations)
	api.GET("/evaluations/:id", s.apiGetEvaluation)
	api.POST("/evaluations/:id/retry", s.apiRetryEvaluation)
	api.GET("/queue", s.apiListQueue)
	api.POST("/queue/claim", s.apiClaim)
	api.POST("/reviews/:id/renew", s.apiRenew)
	api.POST("/reviews/:id/release", s.apiRelease)
	api.POST("/reviews/:id/skip", s.apiSkip)
	api.POST("/reviews/:id/decision", s.apiDecide)
	api.GET("/calibration", s.apiCalibration)
	api.GET("/audit", s.apiListAudit)
	api.GET("/runs/:name", s.apiGetRun)
	api.POST("/runs/:name/retry", s.apiRetryRun)
	api.POST("/runs/:name/budget", s.apiSetRunBudget)
	api.POST("/traces/:id/judge", s.apiJudgeTrace)
	api.GET("/judges", s.apiListJudges)
	api.GET("/judges/:name", s.apiGetJudge)
	api.GET("/judges/:name/health", s.apiJudgeHealth)
	api.POST("/judges/:name/rerun", s.apiRerun)
	api.GET("/reruns", s.apiListReruns)
	api.POST("/reruns/:id/stop", s.apiStopRerun)
	api.GET("/policy", s.apiGetPolicy)
	api.POST("/policy", s.apiSetPolicy)
	api.POST("/policy/dry-run", s.apiDryRunPolicy)
	e.GET("/api/v1/openapi.json", s.apiDescription)
}
