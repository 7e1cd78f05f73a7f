// The main flow with the client of oapi-codegen. Prints what it saw as JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/google/uuid"

	"parley.example/flow/parley"
)

func clientOf(url, credential string) *parley.ClientWithResponses {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+credential)
		return nil
	}
	client, err := parley.NewClientWithResponses(url, parley.WithRequestEditorFn(authorize))
	check(err)
	return client
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// must returns the body of a reply, or ends with the reply that had none.
func must[T any](body *T, raw []byte) T {
	if body == nil {
		log.Fatalf("unexpected reply: %s", raw)
	}
	return *body
}

// until repeats until there is a result.
func until[T any](attempt func() *T) T {
	for tries := 0; tries < 100; tries++ {
		if found := attempt(); found != nil {
			return *found
		}
		time.Sleep(100 * time.Millisecond)
	}
	log.Fatal("no result after 10 s")
	panic("unreachable")
}

func ptr[T any](value T) *T { return &value }

func main() {
	ctx := context.Background()
	team := clientOf(os.Getenv("PARLEY_URL"), os.Getenv("PARLEY_KEY"))
	user := clientOf(os.Getenv("PARLEY_URL"), os.Getenv("PARLEY_TOKEN"))

	var input parley.QuestionInput
	check(input.FromNpsQuestionInput(parley.NpsQuestionInput{
		Title:  "How likely?",
		Config: &parley.NpsConfig{Labels: &parley.ScaleLabels{Low: ptr("no")}},
	}))
	createKey := uuid.NewString()
	made, err := team.CreateQuestionWithResponse(ctx, &parley.CreateQuestionParams{IdempotencyKey: &createKey}, input)
	check(err)
	question := must(made.JSON201, made.Body)
	done, err := team.PublishQuestionWithResponse(ctx, question.Id, &parley.PublishQuestionParams{})
	check(err)
	published := must(done.JSON200, done.Body)

	card := until(func() *parley.Card {
		reply, err := user.ListCardsWithResponse(ctx, &parley.ListCardsParams{Limit: ptr(20)})
		check(err)
		for _, each := range must(reply.JSON200, reply.Body).Data {
			if each.QuestionId == question.Id {
				return &each
			}
		}
		return nil
	})
	var value parley.AnswerValue
	check(value.FromAnswerValue0(9))
	var platform parley.MetadataValue
	check(platform.FromMetadataValue0("go"))
	var account parley.MetadataValue
	check(account.FromMetadataValue1(123456789)) // more digits than 32 bits represent
	id := uuid.New()
	sent, err := user.RecordAnswersWithResponse(ctx, &parley.RecordAnswersParams{}, parley.AnswerBatch{
		Answers: []parley.AnswerInput{{
			Id:              id,
			Revision:        1,
			CardId:          &card.Id,
			QuestionId:      card.QuestionId,
			QuestionVersion: card.QuestionVersion,
			State:           "completed",
			Values:          &map[string]parley.AnswerValue{"main": value},
			Metadata:        &map[string]parley.MetadataValue{"platform": platform, "account": account},
			DisplayedAt:     ptr(time.Now()),
		}},
	})
	check(err)
	receipts := []string{}
	for _, receipt := range must(sent.JSON202, sent.Body).Results {
		receipts = append(receipts, receipt.Status)
	}
	stored := until(func() *parley.Answer {
		reply, err := user.ReadAnswerWithResponse(ctx, id, &parley.ReadAnswerParams{})
		check(err)
		if reply.JSON200 == nil {
			return nil
		}
		answer, err := reply.JSON200.AsAnswer()
		check(err)
		return &answer
	})
	grouping := parley.ReadResultsParamsGroupBy("month")
	figures, err := team.ReadResultsWithResponse(ctx, question.Id, &parley.ReadResultsParams{GroupBy: &grouping})
	check(err)

	_, err = user.CreateConversationWithResponse(ctx, &parley.CreateConversationParams{}, parley.ConversationInput{Message: "Hello"})
	check(err)
	conversations, err := team.ListConversationsWithResponse(ctx, &parley.ListConversationsParams{Limit: ptr(100), Verified: ptr(true)})
	check(err)

	stale, err := team.PatchQuestionWithResponse(ctx, question.Id, &parley.PatchQuestionParams{IfMatch: ptr(`"old"`)}, parley.QuestionPatch{Priority: ptr(5)})
	check(err)

	who, err := user.WhoAmIWithResponse(ctx, &parley.WhoAmIParams{})
	check(err)
	me, err := must(who.JSON200, who.Body).AsUserMe()
	check(err)
	conditional := os.Getenv("PARLEY_QUESTION")
	asked, err := user.ListCardsWithResponse(ctx, &parley.ListCardsParams{})
	check(err)
	var condition float64
	for _, each := range must(asked.JSON200, asked.Body).Data {
		if each.QuestionId == conditional {
			condition, err = each.Steps[1].ShowIf.Value.AsConditionValue0()
			check(err)
		}
	}
	patch := parley.QuestionPatch{Priority: ptr(5)}
	patched, err := team.PatchQuestionWithResponse(ctx, conditional, &parley.PatchQuestionParams{}, patch)
	check(err)
	thread := must(conversations.JSON200, conversations.Body).Data[0].Id
	message, err := team.CreateMessageWithResponse(ctx, thread, &parley.CreateMessageParams{}, parley.MessageInput{Body: "Yes?"})
	check(err)
	status := parley.ConversationPatchStatus("resolved")
	resolved, err := team.PatchConversationWithResponse(ctx, thread, &parley.PatchConversationParams{}, parley.ConversationPatch{Status: &status})
	check(err)

	limited := clientOf(os.Getenv("PARLEY_LIMITED_URL"), os.Getenv("PARLEY_KEY"))
	retryAfter := until(func() *string {
		reply, err := limited.ListQuestionsWithResponse(ctx, &parley.ListQuestionsParams{})
		check(err)
		if reply.StatusCode() != http.StatusTooManyRequests {
			return nil
		}
		return ptr(reply.HTTPResponse.Header.Get("Retry-After"))
	})
	seconds, err := strconv.Atoi(retryAfter)
	check(err)

	tomorrow := clientOf(os.Getenv("PARLEY_TOMORROW_URL"), os.Getenv("PARLEY_KEY"))
	cards, err := tomorrow.ListCardsWithResponse(ctx, &parley.ListCardsParams{})
	check(err)
	later, err := tomorrow.ListConversationsWithResponse(ctx, &parley.ListConversationsParams{})
	check(err)
	failed, err := tomorrow.ReadQuestionWithResponse(ctx, question.Id, &parley.ReadQuestionParams{})
	check(err)

	output, err := json.Marshal(map[string]any{
		"created":       question.Status,
		"published":     published.Status,
		"receipts":      receipts,
		"answer":        stored.State,
		"completed":     must(figures.JSON200, figures.Body).Completed,
		"conversations": len(must(conversations.JSON200, conversations.Body).Data),
		"stale":         stale.StatusCode(),
		"retry":         seconds > 0,
		"changes": map[string]any{
			"me":           me.Identity,
			"condition":    condition,
			"priority":     must(patched.JSON200, patched.Body).Priority,
			"message":      must(message.JSON201, message.Body).Kind,
			"conversation": must(resolved.JSON200, resolved.Body).Status,
		},
		"tomorrow": []string{
			must(cards.JSON200, cards.Body).Data[0].Steps[0].Type,
			must(later.JSON200, later.Body).Data[0].Status,
			must(failed.ApplicationproblemJSONDefault, failed.Body).Code,
		},
	})
	check(err)
	fmt.Println(string(output))
}
