package store

import (
	"database/sql/driver"
	"encoding/hex"
	"fmt"
)

// digest is a SHA-256 as this program writes it, in hexadecimal, and as the
// database keeps it, in 32 bytes. The empty digest is NULL.
type digest string

// Value implements driver.Valuer.
func (d digest) Value() (driver.Value, error) {
	if d == "" {
		return nil, nil
	}
	raw, err := hex.DecodeString(string(d))
	if err != nil {
		return nil, fmt.Errorf("%q is not a hexadecimal hash: %w", string(d), err)
	}
	return raw, nil
}

// Scan implements sql.Scanner.
func (d *digest) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*d = ""
	case []byte:
		*d = digest(hex.EncodeToString(v))
	case string: // SQLite keeps whatever somebody wrote into the column
		*d = digest(hex.EncodeToString([]byte(v)))
	default:
		return fmt.Errorf("a hash came back from the database as %T", v)
	}
	return nil
}

// digests are query arguments.
func digests(hashes []string) []any {
	args := make([]any, len(hashes))
	for i, h := range hashes {
		args[i] = digest(h)
	}
	return args
}
