package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/judge/release"
)

// ReleaseKnown is what a project knows of the judges of a release candidate: their
// agreement with people, the labels that correct a pass rate, and how far each is
// trusted. Roles: lead, auditor, admin.
func (s *Store) ReleaseKnown(ctx context.Context, a Actor, project string, raters []release.Rater) (in release.Input, err error) {
	asked := map[string]bool{}
	for _, r := range raters {
		if asked[r.Judge] {
			continue
		}
		asked[r.Judge] = true
		counts, err := s.CalibrationCounts(ctx, a, project, r.Judge)
		if errors.Is(err, ErrNotFound) {
			// A project may ask for trust before it knows the judge.
			if err := s.addTrust(ctx, a, project, r.Judge, raters, &in); err != nil && !errors.Is(err, ErrNotFound) {
				return in, err
			}
			in.Notes = append(in.Notes, fmt.Sprintf("There is no project %s that knows judge %s, so only labels of the file count for it.", project, r.Judge))
			continue
		}
		if err != nil {
			return in, err
		}
		reports, err := calibration.ComposeAll(counts)
		if err != nil {
			return in, err
		}
		in.Calibration = append(in.Calibration, reports...)
		if err := s.addDrawn(ctx, a, project, r.Judge, reports, &in); err != nil {
			return in, err
		}
		if err := s.addTrust(ctx, a, project, r.Judge, raters, &in); err != nil {
			return in, err
		}
	}
	return in, nil
}

// addDrawn leaves out labels that cannot stand for the work they come from, as the
// reports have it: they would correct a rate by chances that are not theirs.
func (s *Store) addDrawn(ctx context.Context, a Actor, project, judgeName string, reports []calibration.Report, in *release.Input) error {
	wrong := map[release.Rater]bool{}
	for _, r := range reports {
		if r.Population.Overdrawn {
			wrong[release.Rater{Judge: judgeName, Model: r.Model, PromptVersion: r.PromptVersion}] = true
			in.Notes = append(in.Notes, fmt.Sprintf("Labels of the project on judge %s by %q correct nothing: %s.", judgeName, r.Model, r.Population.Refused))
		}
	}
	drawn, err := s.DrawnLabels(ctx, a, project, judgeName)
	if err != nil {
		return err
	}
	for _, l := range drawn {
		if l.Human.Verdict == "" || l.Human.Abstained || l.Judge.Verdict == "" {
			continue
		}
		rater := release.Rater{Judge: judgeName, Model: l.Model, PromptVersion: l.PromptVersion}
		if wrong[rater] {
			continue
		}
		in.Labels = append(in.Labels, release.ProjectLabel{
			Rater:       rater,
			JudgePasses: l.Judge.Verdict == judge.Pass, PeoplePass: l.Human.Verdict == judge.Pass,
			Probability: l.InclusionProbability, N: l.N,
		})
	}
	return nil
}

// neverLabelled is why a version is advisory of which nothing is kept.
const neverLabelled = "nobody has labelled what this version says"

func (s *Store) addTrust(ctx context.Context, a Actor, project, judgeName string, raters []release.Rater, in *release.Input) error {
	known, err := s.Trust(ctx, a, project, judgeName)
	if err != nil {
		return err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return err
	}
	required := false
	for _, stakes := range []judge.Stakes{judge.HighStakes, judge.StandardStakes} {
		required = required || p.Policy.For(judgeName, "", stakes).On(nil, judge.ReasonUntrustedJudge)
	}
	for _, r := range raters {
		if r.Judge != judgeName {
			continue
		}
		t := release.ProjectTrust{Rater: r, State: judge.Advisory, Why: neverLabelled, Required: required}
		for _, k := range known {
			if k.Model == r.Model && k.PromptVersion == r.PromptVersion {
				t.State, t.Why = k.State, k.Why()
			}
		}
		in.Trust = append(in.Trust, t)
	}
	return nil
}
