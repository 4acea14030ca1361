package store

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"
)

// clusterID is the number under which a cluster counts in a group.
func (g agreementGroup) clusterID(cluster string) int64 {
	return keyID(g.projectID, g.judge, g.model, g.version, cluster)
}

type clusterDelta struct {
	group         agreementGroup
	free, waiting int
}

// addCluster moves an evaluation from the cluster it was counted in to the one
// it is in.
func (d *deltas) addCluster(e *countedEvaluation) {
	if e.was.clusterKey == e.is.clusterKey && e.was.sealed == e.is.sealed {
		return
	}
	d.cluster(e.group, e.was, -1)
	d.cluster(e.group, e.is, 1)
}

func (d *deltas) cluster(g agreementGroup, as countedAs, n int) {
	if as.clusterKey == 0 {
		return
	}
	c := d.clusters[as.clusterKey]
	if c == nil {
		c = &clusterDelta{group: g}
		d.clusters[as.clusterKey] = c
	}
	if as.sealed {
		c.waiting += n
	} else {
		c.free += n
	}
}

// writeClusters changes the counts of clusters, and from those that became
// empty or ceased to be so, how many there are.
func (d *deltas) writeClusters(ctx context.Context, t *tx) error {
	ids := slices.Sorted(maps.Keys(d.clusters))
	ids = slices.DeleteFunc(ids, func(id int64) bool { return d.clusters[id].free == 0 && d.clusters[id].waiting == 0 })
	counts := map[agreementGroup]clusterCounts{}
	for batch := range slices.Chunk(ids, countedRows) {
		type row struct {
			id            int64
			free, waiting int
		}
		var args []any
		for _, id := range batch {
			args = append(args, id, d.clusters[id].free, d.clusters[id].waiting)
		}
		rows, err := collect(ctx, t, func(r *sql.Rows, v *row) error { return r.Scan(&v.id, &v.free, &v.waiting) }, `
INSERT INTO agreement_clusters (id, free, waiting) VALUES `+strings.TrimSuffix(strings.Repeat("(?, ?, ?), ", len(batch)), ", ")+`
ON CONFLICT (id) DO UPDATE SET free = agreement_clusters.free + excluded.free, waiting = agreement_clusters.waiting + excluded.waiting
RETURNING id, free, waiting`, args...)
		if err != nil {
			return err
		}
		for _, v := range rows {
			c := d.clusters[v.id]
			n := counts[c.group]
			n.all += oneIf(v.free+v.waiting > 0) - oneIf(v.free-c.free+v.waiting-c.waiting > 0)
			n.free += oneIf(v.free > 0) - oneIf(v.free-c.free > 0)
			counts[c.group] = n
		}
	}
	for _, g := range slices.SortedFunc(maps.Keys(counts), compareGroups) {
		n := counts[g]
		if n == (clusterCounts{}) {
			continue
		}
		if _, err := t.exec(ctx, `
INSERT INTO agreement_cluster_counts (project_id, judge, model, prompt_version, clusters, free_clusters) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (project_id, judge, model, prompt_version) DO UPDATE SET
    clusters = agreement_cluster_counts.clusters + excluded.clusters,
    free_clusters = agreement_cluster_counts.free_clusters + excluded.free_clusters`,
			g.projectID, g.judge, g.model, g.version, n.all, n.free); err != nil {
			return err
		}
	}
	return nil
}

// clusterCounts is how many clusters a group has: all, and those with an
// evaluation that does not wait blind.
type clusterCounts struct{ all, free int }

func oneIf(holds bool) int {
	if holds {
		return 1
	}
	return 0
}

func compareGroups(a, b agreementGroup) int {
	return cmp.Or(cmp.Compare(a.projectID, b.projectID), cmp.Compare(a.judge, b.judge),
		cmp.Compare(a.model, b.model), cmp.Compare(a.version, b.version))
}
