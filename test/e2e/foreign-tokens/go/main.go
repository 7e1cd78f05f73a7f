// Prints an access token for the identity that is the first argument.
package main

import (
	"fmt"
	"log"
	"os"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

func main() {
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"iss":    os.Getenv("SERVICE_API_KEY_ID"),
		"sub":    os.Getenv("SERVICE_TENANT_ID"),
		"exp":    time.Now().Add(time.Hour).Unix(),
		"grants": map[string]string{"identity": os.Args[1]},
	})
	token.Header["cty"] = "svc-fpa;v=1"
	signed, err := token.SignedString([]byte(os.Getenv("SERVICE_API_KEY_SECRET")))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(signed)
}
