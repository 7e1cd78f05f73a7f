module parley.example/flow

go 1.24.0

require (
	github.com/google/uuid v1.6.0
	github.com/parley/client v0.0.0
)

require gopkg.in/validator.v2 v2.0.1 // indirect

replace github.com/parley/client => ../built/go
