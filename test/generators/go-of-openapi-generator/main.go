// The main flow with the client of openapi-generator. Prints what it saw as JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/google/uuid"

	openapi "github.com/parley/client"
)

func clientOf(url, credential string) *openapi.APIClient {
	configuration := openapi.NewConfiguration()
	configuration.Servers = openapi.ServerConfigurations{{URL: url}}
	configuration.AddDefaultHeader("Authorization", "Bearer "+credential)
	return openapi.NewAPIClient(configuration)
}

func check(err error) {
	var refused *openapi.GenericOpenAPIError
	if errors.As(err, &refused) {
		log.Fatalf("%v: %s", err, refused.Body())
	}
	if err != nil {
		log.Fatal(err)
	}
}

// got returns the value of a reply, or ends with its error.
func got[T any](value *T, _ *http.Response, err error) T {
	check(err)
	return *value
}

// statusOf returns the status of a reply, also of one that is an error.
func statusOf(response *http.Response) int {
	if response == nil {
		log.Fatal("no reply")
	}
	return response.StatusCode
}

// until repeats until there is a result.
func until[T any](attempt func() *T) T {
	for tries := 0; tries < 100; tries++ {
		if found := attempt(); found != nil {
			return *found
		}
		time.Sleep(100 * time.Millisecond)
	}
	log.Fatal("no result after 100 tries")
	panic("unreachable")
}

// codeOf returns the code of the problem in an error.
func codeOf(err error) string {
	var refused *openapi.GenericOpenAPIError
	if !errors.As(err, &refused) {
		log.Fatalf("no problem: %v", err)
	}
	problem, isProblem := refused.Model().(openapi.Problem)
	if !isProblem {
		log.Fatalf("no problem: %s", refused.Body())
	}
	return problem.Code
}

func main() {
	ctx := context.Background()
	team := clientOf(os.Getenv("PARLEY_URL"), os.Getenv("PARLEY_KEY"))
	user := clientOf(os.Getenv("PARLEY_URL"), os.Getenv("PARLEY_TOKEN"))

	nps := openapi.NewNpsQuestionInput("How likely?", "nps")
	nps.SetConfig(openapi.NpsConfig{Labels: &openapi.ScaleLabels{Low: openapi.PtrString("no")}})
	question := got(team.QuestionsAPI.CreateQuestion(ctx).IdempotencyKey(uuid.NewString()).
		QuestionInput(openapi.NpsQuestionInputAsQuestionInput(nps)).Execute())
	published := got(team.QuestionsAPI.PublishQuestion(ctx, question.Id).Execute())

	card := until(func() *openapi.Card {
		for _, each := range got(user.CardsAPI.ListCards(ctx).Limit(20).Execute()).Data {
			if each.QuestionId == question.Id {
				return &each
			}
		}
		return nil
	})
	answer := openapi.NewAnswerInput(uuid.NewString(), 1, card.QuestionId, card.QuestionVersion, "completed")
	answer.SetCardId(card.Id)
	answer.SetValues(map[string]openapi.AnswerValue{"main": openapi.Float64AsAnswerValue(openapi.PtrFloat64(9))})
	answer.SetMetadata(map[string]openapi.MetadataValue{
		"platform": openapi.StringAsMetadataValue(openapi.PtrString("go")),
		"account":  openapi.Float64AsMetadataValue(openapi.PtrFloat64(123456789)), // more digits than 32 bits represent
	})
	answer.SetDisplayedAt(time.Now())
	batch := openapi.NewAnswerBatch([]openapi.AnswerInput{*answer})
	receipts := []string{}
	for _, receipt := range got(user.AnswersAPI.RecordAnswers(ctx).AnswerBatch(*batch).Execute()).Results {
		receipts = append(receipts, receipt.Status)
	}
	stored := until(func() *openapi.OwnAnswer {
		view, response, err := user.AnswersAPI.ReadAnswer(ctx, answer.Id).Execute()
		if statusOf(response) == http.StatusNotFound {
			return nil
		}
		check(err)
		return view.OwnAnswer
	})
	figures := got(team.QuestionsAPI.ReadResults(ctx, question.Id).GroupBy("month").Execute())

	got(user.ConversationsAPI.CreateConversation(ctx).ConversationInput(*openapi.NewConversationInput("Hello")).Execute())
	conversations := got(team.ConversationsAPI.ListConversations(ctx).Limit(100).Verified(true).Execute())

	patch := openapi.QuestionPatch{Priority: openapi.PtrInt32(5)}
	_, stale, _ := team.QuestionsAPI.PatchQuestion(ctx, question.Id).IfMatch(`"old"`).QuestionPatch(patch).Execute()

	me := got(user.TokensAPI.WhoAmI(ctx).Execute())
	conditional := os.Getenv("PARLEY_QUESTION")
	var condition *float64
	for _, each := range got(user.CardsAPI.ListCards(ctx).Execute()).Data {
		if each.QuestionId == conditional {
			condition = each.Steps[1].ShowIf.Get().Value.Float64
		}
	}
	patched := got(team.QuestionsAPI.PatchQuestion(ctx, conditional).QuestionPatch(patch).Execute())
	thread := conversations.Data[0].Id
	message := got(team.ConversationsAPI.CreateMessage(ctx, thread).MessageInput(*openapi.NewMessageInput("Yes?")).Execute())
	change := openapi.ConversationPatch{Status: openapi.PtrString("resolved")}
	resolved := got(team.ConversationsAPI.PatchConversation(ctx, thread).ConversationPatch(change).Execute())

	limited := clientOf(os.Getenv("PARLEY_LIMITED_URL"), os.Getenv("PARLEY_KEY"))
	retryAfter := until(func() *string {
		_, response, _ := limited.QuestionsAPI.ListQuestions(ctx).Execute()
		if statusOf(response) != http.StatusTooManyRequests {
			return nil
		}
		return openapi.PtrString(response.Header.Get("Retry-After"))
	})
	seconds, err := strconv.Atoi(retryAfter)
	check(err)

	tomorrow := clientOf(os.Getenv("PARLEY_TOMORROW_URL"), os.Getenv("PARLEY_KEY"))
	cards := got(tomorrow.CardsAPI.ListCards(ctx).Execute())
	later := got(tomorrow.ConversationsAPI.ListConversations(ctx).Execute())
	_, _, failed := tomorrow.QuestionsAPI.ReadQuestion(ctx, question.Id).Execute()

	output, err := json.Marshal(map[string]any{
		"created":       question.Status,
		"published":     published.Status,
		"receipts":      receipts,
		"answer":        stored.State,
		"completed":     figures.Completed,
		"conversations": len(conversations.Data),
		"stale":         statusOf(stale),
		"retry":         seconds > 0,
		"changes": map[string]any{
			"me":           me.UserMe.Identity,
			"condition":    condition,
			"priority":     patched.Priority,
			"message":      message.Kind,
			"conversation": resolved.Status,
		},
		"tomorrow": []string{cards.Data[0].Steps[0].Type, later.Data[0].Status, codeOf(failed)},
	})
	check(err)
	fmt.Println(string(output))
}
