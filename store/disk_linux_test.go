package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
	"github.com/countersign/countersign/store/storetest/pgcluster"
)

// smallDisk is a folder on a disk of its own of so many megabytes.
func smallDisk(t *testing.T, megabytes string) string {
	t.Helper()
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size="+megabytes+"m,mode=0700"); err != nil {
		if os.Getenv("CI") == "true" && os.Getuid() == 0 {
			t.Fatalf("mount a small disk: %v", err)
		}
		t.Skipf("a small disk can be mounted by root only, outside of closed containers: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return folder
}

// fillDisk takes all space but the last bytes; the function gives it back.
func fillDisk(t *testing.T, folder string, leave int64) (free func()) {
	t.Helper()
	name := filepath.Join(folder, "ballast")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 4096)
	var size int64
	for {
		n, err := f.Write(block)
		size += int64(n)
		if errors.Is(err, syscall.ENOSPC) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(f.Truncate(max(size-leave, 0)), f.Close()); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

// importUntil imports one trace after another, and gives those that were
// acknowledged and the error that ended it.
func importUntil(t *testing.T, s *store.Store, from int) (stored []string, refused error) {
	t.Helper()
	for n := from; n < from+5000; n++ {
		if _, err := s.ImportTraces(t.Context(), storetest.Operator, "default", storetest.Items(n, 1)); err != nil {
			return stored, err
		}
		stored = append(stored, storetest.Trace(n).ID)
	}
	t.Fatal("5,000 traces found space")
	return nil, nil
}

// mustBeWhole checks a database as SQLite does, by its chain, and for traces
// that were acknowledged.
func mustBeWhole(t *testing.T, s *store.Store, address string, stored []string) {
	t.Helper()
	var ok string
	if err := storetest.Raw(t, address).QueryRow(`PRAGMA integrity_check`).Scan(&ok); err != nil || ok != "ok" {
		t.Errorf("integrity check: %q, %v", ok, err)
	}
	if v, err := s.VerifyAudit(t.Context(), storetest.Operator); err != nil || v.Problem != "" {
		t.Errorf("chain: %q, %v", v.Problem, err)
	}
	for _, id := range stored {
		if _, err := s.GetTrace(t.Context(), storetest.Operator, "default", id, 0); err != nil {
			t.Fatalf("lost: %v", err)
		}
	}
}

// A full disk refuses writes in plain words, keeps what was acknowledged, and
// work goes on when there is space again. Reading always works.
func TestFullDisk(t *testing.T) {
	t.Setenv("TEST_ENGINE", "sqlite")
	folder := smallDisk(t, "24")
	address := "sqlite://" + filepath.Join(folder, "countersign.db")
	s := storetest.OpenAt(t, address, nil)
	storetest.Import(t, s, storetest.Items(100_000, 20))
	var stored []string
	for round, leave := range []int64{0, 100_000, 700_000} {
		free := fillDisk(t, folder, leave)
		more, err := importUntil(t, s, round*10_000)
		stored = append(stored, more...)
		if trouble := s.Trouble(err); trouble == nil || trouble.What != "the disk is full, nothing was stored" {
			t.Errorf("round %d: error %v, in plain words %v", round, err, trouble)
		}
		work, err := s.ClaimWork(t.Context(), judge.Claim{Worker: "w", N: 1, Lease: time.Minute})
		if err == nil { // a small write may find the last page
			if err = s.FinishWork(t.Context(), []judge.Finished{flagged(work[0])}); err != nil && s.Trouble(err) == nil {
				t.Errorf("round %d: finish: error %v", round, err)
			}
		} else if s.Trouble(err) == nil {
			t.Errorf("round %d: claim: error %v", round, err)
		}
		mustBeWhole(t, s, address, stored)
		free()
		storetest.Import(t, s, storetest.Items(round*10_000+9_000, 5))
		mustBeWhole(t, s, address, stored)
	}
}

// What moves whole databases leaves nothing broken on a full disk.
func TestMovingToFullDisk(t *testing.T) {
	d := fileDesk(t)
	d.put(numbered("more", 300)...)
	backup := filepath.Join(t.TempDir(), "b.db")
	if _, err := store.Backup(d.ctx, store.Options{URL: d.address}, backup, false); err != nil {
		t.Fatal(err)
	}
	pg := pgcluster.Database(t)
	mustCopy(t, d.address, pg)
	for name, move := range map[string]func(folder string) error{
		"backup": func(f string) error {
			_, err := store.Backup(d.ctx, store.Options{URL: d.address}, filepath.Join(f, "b.db"), true)
			return err
		},
		"packed backup": func(f string) error {
			_, err := store.Backup(d.ctx, store.Options{URL: d.address}, filepath.Join(f, "b.db.zst"), true)
			return err
		},
		"restore": func(f string) error {
			_, err := store.Restore(d.ctx, store.Options{Path: filepath.Join(f, "countersign.db")}, backup, true, restoredAt)
			return err
		},
		"copy of a file": func(f string) error {
			_, err := store.Copy(d.ctx, store.Options{URL: d.address}, store.Options{Path: filepath.Join(f, "countersign.db")}, nil)
			return err
		},
		"copy of a server": func(f string) error {
			_, err := store.Copy(d.ctx, store.Options{URL: pg}, store.Options{Path: filepath.Join(f, "countersign.db")}, nil)
			return err
		},
	} {
		for _, leave := range []int64{0, 300_000} {
			folder := smallDisk(t, "16")
			free := fillDisk(t, folder, leave)
			err := move(folder)
			var trouble *store.TroubleError
			if !errors.As(err, &trouble) || !strings.Contains(trouble.What, "full") {
				t.Errorf("%s with %d bytes left: error %v", name, leave, err)
			}
			onlyFiles(t, folder, leftBy(folder, "ballast")...)
			free()
			if err := move(folder); err != nil {
				t.Errorf("%s with space again: %v", name, err)
			}
		}
	}
}

// leftBy is what may be there: the name, and the lock of a database folder,
// which is empty.
func leftBy(folder, name string) []string {
	if info, err := os.Stat(filepath.Join(folder, "countersign.db.migrating")); err == nil && info.Size() == 0 {
		return []string{name, "countersign.db.migrating"}
	}
	return []string{name}
}

// Compacting that would not fit is refused with numbers before it begins.
func TestCompactWithoutSpace(t *testing.T) {
	t.Setenv("TEST_ENGINE", "sqlite")
	folder := smallDisk(t, "16")
	address := "sqlite://" + filepath.Join(folder, "countersign.db")
	s := storetest.OpenAt(t, address, nil)
	storetest.Import(t, s, storetest.Items(0, 50))
	free := fillDisk(t, folder, 100_000)
	_, err := s.Compact(t.Context())
	var trouble *store.TroubleError
	if !errors.As(err, &trouble) || !strings.Contains(trouble.What, "compacting needs ") || !strings.Contains(trouble.What, " and there are 0 MB") {
		t.Errorf("error %v", err)
	}
	free()
	if _, err := s.Compact(t.Context()); err != nil {
		t.Errorf("with space again: %v", err)
	}
	mustBeWhole(t, s, address, nil)
}

// A folder that can't be written to, or is none, is said when the database is
// opened.
func TestFolderTrouble(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	full := smallDisk(t, "1")
	fillDisk(t, full, 0)
	readOnly := smallDisk(t, "16")
	s, err := store.Open(t.Context(), store.Options{Path: filepath.Join(readOnly, "countersign.db")})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("", readOnly, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(readOnly, "countersign.db"): "can't be written to",
		filepath.Join(file, "countersign.db"):     "see that all of its path are folders",
		filepath.Join(full, "countersign.db"):     "is full",
	} {
		s, err := store.Open(t.Context(), store.Options{Path: path})
		if err == nil {
			t.Errorf("%s: opened", want)
			_ = s.Close()
			continue
		}
		var trouble *store.TroubleError
		if !errors.As(err, &trouble) || !strings.Contains(trouble.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
	missing := filepath.Join(t.TempDir(), "a", "b", "countersign.db")
	if s, err = store.Open(t.Context(), store.Options{Path: missing}); err != nil {
		t.Fatalf("a missing folder is made: %v", err)
	}
	info, err := os.Stat(filepath.Dir(missing))
	if err != nil || info.Mode().Perm() != fs.FileMode(0o700) {
		t.Errorf("made as %v, %v", info.Mode(), err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
