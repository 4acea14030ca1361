package store_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
	"github.com/countersign/countersign/store/storetest/pgcluster"
)

// fileDesk is a filled desk on a SQLite file.
func fileDesk(t testing.TB) *desk {
	t.Helper()
	t.Setenv("TEST_ENGINE", "sqlite")
	return fillDesk(t)
}

func pathOf(address string) string { return strings.TrimPrefix(address, "sqlite://") }

var restoredAt = time.Date(2026, 5, 1, 9, 30, 0, 0, time.UTC)

func TestBackupAndRestore(t *testing.T) {
	d := fileDesk(t)
	want := d.text(`SELECT hash FROM audit_head`)
	folder := t.TempDir()
	for _, name := range []string{"plain.db", "packed.db.zst"} {
		file := filepath.Join(folder, name)
		b, err := store.Backup(d.ctx, store.Options{URL: d.address}, file, false)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != 0o600 || info.Size() != b.Bytes || b.Head != want || int(b.Events) != d.number(`SELECT seq FROM audit_head`) {
			t.Errorf("%s: report %+v, file %v, error %v; want head %s", name, b, info, err, want)
		}
		to := newFile(t)
		r, err := store.Restore(d.ctx, store.Options{URL: to}, file, false, restoredAt)
		if err != nil {
			t.Fatal(err)
		}
		if r.Head != want || r.Kept != "" || r.Restore != pathOf(to) {
			t.Errorf("%s: restored %+v", name, r)
		}
		if info, err := os.Stat(pathOf(to)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: restored as %v, %v", name, info.Mode(), err)
		}
		if got, want := exported(t, to), exportedOf(t, d); got != want {
			t.Errorf("%s: the exports of the restored database are not the original's", name)
		}
	}
	onlyFiles(t, folder, "packed.db.zst", "plain.db")
}

// exportedOf exports from a copy, so that the original gets no events.
func exportedOf(t testing.TB, d *desk) string {
	t.Helper()
	to := newFile(t)
	mustCopy(t, d.address, to)
	return exported(t, to)
}

func onlyFiles(t *testing.T, folder string, names ...string) {
	t.Helper()
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, f.Name())
	}
	if want := strings.Join(names, " "); strings.Join(got, " ") != want {
		t.Errorf("the folder holds %v, want %s", got, want)
	}
}

func TestBackupRefuses(t *testing.T) {
	d := fileDesk(t)
	file := filepath.Join(t.TempDir(), "b.db")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Backup(d.ctx, store.Options{URL: d.address}, file, false); !errors.Is(err, store.ErrConflict) {
		t.Errorf("onto a file: error %v", err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "mine" {
		t.Errorf("the file became %q, %v", got, err)
	}
	if _, err := store.Backup(d.ctx, store.Options{URL: d.address}, file, true); err != nil {
		t.Errorf("by force: %v", err)
	}
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Backup(d.ctx, store.Options{URL: newFile(t)}, file, true); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of nothing: error %v", err)
	}
	if _, err := storetest.Forger(t, d.address).Exec(`UPDATE audit_events SET actor = 'x' WHERE seq = 7`); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Backup(d.ctx, store.Options{URL: d.address}, file, true); err == nil || !strings.Contains(err.Error(), "event 7 was changed") {
		t.Errorf("of a forged one: error %v", err)
	}
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(good, now) {
		t.Errorf("a refused backup changed the file: %v", err)
	}
	onlyFiles(t, filepath.Dir(file), "b.db")
	pg := store.Options{URL: pgcluster.Database(t)}
	if _, err := store.Backup(d.ctx, pg, file, true); !errors.Is(err, store.ErrNotForPostgres) {
		t.Errorf("of PostgreSQL: error %v", err)
	}
	if _, err := store.Restore(d.ctx, pg, file, true, restoredAt); !errors.Is(err, store.ErrNotForPostgres) {
		t.Errorf("to PostgreSQL: error %v", err)
	}
}

func TestRestoreRefuses(t *testing.T) {
	d := fileDesk(t)
	file := filepath.Join(t.TempDir(), "b.db")
	if _, err := store.Backup(d.ctx, store.Options{URL: d.address}, file, false); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d.put(judged{id: "after the backup"})
	before := d.text(`SELECT hash FROM audit_head`)
	o := store.Options{URL: d.address}
	if _, err := store.Restore(d.ctx, o, file, false, restoredAt); !errors.Is(err, store.ErrConflict) || !strings.Contains(err.Error(), "--force") {
		t.Errorf("onto a database: error %v", err)
	}
	if _, err := store.Restore(d.ctx, o, file, true, restoredAt); !errors.Is(err, store.ErrConflict) || !strings.Contains(err.Error(), "stop it first") {
		t.Errorf("under an open store: error %v", err)
	}
	if got := d.text(`SELECT hash FROM audit_head`); got != before {
		t.Error("a refused restore changed the database")
	}
	d.put(judged{id: "and it works on"})

	bad := filepath.Join(t.TempDir(), "bad")
	empty := "sqlite://" + filepath.Join(t.TempDir(), "countersign.db")
	for name, spoil := range map[string]func([]byte) []byte{
		"cut off":      func(b []byte) []byte { return b[:len(b)/2] },
		"not a backup": func([]byte) []byte { return []byte("hello, this is a letter and no database at all") },
		"nothing":      func([]byte) []byte { return nil },
		"damaged":      func(b []byte) []byte { copy(b[len(b)/2:], bytes.Repeat([]byte{0xa5}, 9000)); return b },
		"cut zst":      func(b []byte) []byte { return append([]byte{0x28, 0xb5, 0x2f, 0xfd}, b[:1000]...) },
		"newer": func(b []byte) []byte {
			return changed(t, b, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)`)
		},
		"tampered":      func(b []byte) []byte { return changed(t, b, `UPDATE decisions SET comment = 'x'`) },
		"orphaned rows": func(b []byte) []byte { return changed(t, b, `DELETE FROM traces`) },
		"other program": func([]byte) []byte { return changed(t, nil, `CREATE TABLE mine (a)`) },
	} {
		if err := os.WriteFile(bad, spoil(bytes.Clone(good)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Restore(d.ctx, store.Options{URL: empty}, bad, true, restoredAt); err == nil {
			t.Errorf("%s: restored", name)
		}
		onlyFiles(t, filepath.Dir(pathOf(empty)))
	}
}

// changed does something to a database file behind its triggers' back.
func changed(t *testing.T, b []byte, statement string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	db := storetest.Forger(t, "sqlite://"+path)
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// By force the old database is kept beside, whole, and even one that is damaged
// gives way.
func TestRestoreByForce(t *testing.T) {
	d := fileDesk(t)
	file := filepath.Join(t.TempDir(), "b.db.zst")
	if _, err := store.Backup(d.ctx, store.Options{URL: d.address}, file, false); err != nil {
		t.Fatal(err)
	}
	to := newFile(t)
	mustCopy(t, d.address, to)
	s, err := store.Open(d.ctx, store.Options{URL: to})
	if err != nil {
		t.Fatal(err)
	}
	storetest.Import(t, s, storetest.Items(1, 3))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := store.Restore(d.ctx, store.Options{URL: to}, file, true, restoredAt)
	if err != nil || r.Kept != pathOf(to)+".replaced-20260501T093000Z" {
		t.Fatalf("restored %+v, error %v", r, err)
	}
	for address, want := range map[string]int{to: 0, "sqlite://" + r.Kept: 3} {
		var n int
		if err := storetest.Raw(t, address).QueryRow(`SELECT count(*) FROM traces WHERE external_id LIKE 'trace-%'`).Scan(&n); err != nil || n != want {
			t.Errorf("%s: %d traces, error %v; want %d", address, n, err, want)
		}
	}
	damaged := newFile(t)
	if err := os.MkdirAll(filepath.Dir(pathOf(damaged)), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"", "-wal"} {
		if err := os.WriteFile(pathOf(damaged)+end, []byte("this is what a broken disk left of it"+end), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if r, err = store.Restore(d.ctx, store.Options{URL: damaged}, file, true, restoredAt); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(r.Kept + "-wal"); err != nil || !strings.Contains(string(got), "broken disk left of it-wal") {
		t.Errorf("the old log was not kept: %q, %v", got, err)
	}
	if exported(t, damaged) != exportedOf(t, d) {
		t.Error("restored over a damaged file: the exports differ")
	}
}

// movesUntilKilled tells this test binary, started again as a child, what to do
// until it is killed: "backup FROM TO" or "restore FILE TO".
const movesUntilKilled = "STORE_TEST_MOVE_UNTIL_KILLED"

// moveOn is what the child does.
func moveOn(job string) error {
	part := strings.Split(job, "\n")
	var err error
	switch part[0] {
	case "backup":
		_, err = store.Backup(context.Background(), store.Options{URL: part[1]}, part[2], true)
	case "restore":
		_, err = store.Restore(context.Background(), store.Options{URL: part[2]}, part[1], true, time.Now())
	}
	return err
}

// A backup or a restore that is killed leaves the old file as it was, or the
// new one whole.
func TestKilledBackupAndRestore(t *testing.T) {
	d := fileDesk(t)
	d.put(numbered("more", 2000)...)
	folder := t.TempDir()
	file := filepath.Join(folder, "b.db")
	if _, err := store.Backup(d.ctx, store.Options{URL: d.address}, file, false); err != nil {
		t.Fatal(err)
	}
	oldHead := d.text(`SELECT hash FROM audit_head`)
	old := newFile(t)
	if _, err := store.Restore(d.ctx, store.Options{URL: old}, file, false, restoredAt); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(d.ctx, store.Options{URL: old})
	if err != nil {
		t.Fatal(err)
	}
	storetest.Import(t, s, storetest.Items(1, 1)) // an end of its own
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var restoredHead string
	if err := storetest.Raw(t, old).QueryRow(`SELECT hash FROM audit_head`).Scan(&restoredHead); err != nil {
		t.Fatal(err)
	}
	d.put(judged{id: "after"}) // the next backup has another head
	newHead := d.text(`SELECT hash FROM audit_head`)
	killed := 0
	for _, after := range []time.Duration{20, 60, 100, 150, 200, 300, 450} {
		for _, job := range []string{"backup\n" + d.address + "\n" + file, "restore\n" + file + "\n" + old} {
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), movesUntilKilled+"="+job)
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(after * time.Millisecond)
			_ = child.Process.Kill() // it may have ended
			_ = child.Wait()
			if !child.ProcessState.Exited() {
				killed++
			}
			// The file and the database are both whole: one of the two states.
			probe := newFile(t)
			r, err := store.Restore(d.ctx, store.Options{URL: probe}, file, false, restoredAt)
			if err != nil || (r.Head != oldHead && r.Head != newHead) {
				t.Fatalf("after %d ms of %s the backup is %+v, %v", after, job, r, err)
			}
			b, err := store.Backup(d.ctx, store.Options{URL: old}, filepath.Join(t.TempDir(), "probe"), false)
			if err != nil || (b.Head != oldHead && b.Head != newHead && b.Head != restoredHead) {
				t.Fatalf("after %d ms of %s the database is %+v, %v", after, job, b, err)
			}
		}
	}
	if killed == 0 {
		t.Error("every child ended before it was killed: the test tells nothing")
	}
}
