import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.AnswersApi;
import org.openapitools.client.api.AnswersApi.*;
import org.openapitools.client.api.CardsApi;
import org.openapitools.client.api.CardsApi.*;
import org.openapitools.client.api.ConversationsApi;
import org.openapitools.client.api.ConversationsApi.*;
import org.openapitools.client.api.QuestionsApi;
import org.openapitools.client.api.QuestionsApi.*;
import org.openapitools.client.api.TokensApi;
import org.openapitools.client.api.TokensApi.*;
import org.openapitools.client.model.Answer;
import org.openapitools.client.model.AnswerBatch;
import org.openapitools.client.model.AnswerInput;
import org.openapitools.client.model.AnswerValue;
import org.openapitools.client.model.Card;
import org.openapitools.client.model.ConversationInput;
import org.openapitools.client.model.ConversationPatch;
import org.openapitools.client.model.MessageInput;
import org.openapitools.client.model.NpsConfig;
import org.openapitools.client.model.NpsQuestionInput;
import org.openapitools.client.model.QuestionInput;
import org.openapitools.client.model.QuestionPatch;
import org.openapitools.client.model.ScaleLabels;

/** The main flow with the Java client of openapi-generator. Prints what it saw as JSON. */
public class Flow {
    static final ObjectMapper JSON = new ObjectMapper();

    static ApiClient clientOf(String url, String credential) {
        var client = new ApiClient();
        client.updateBaseUri(System.getenv(url));
        var authorization = "Bearer " + System.getenv(credential);
        client.setRequestInterceptor(request -> request.setHeader("Authorization", authorization));
        return client;
    }

    /** Repeats until there is a result. */
    static <T> T until(Callable<T> attempt) throws Exception {
        for (int tries = 0; tries < 100; tries++) {
            T found = attempt.call();
            if (found != null) return found;
            Thread.sleep(100);
        }
        throw new IllegalStateException("no result after 10 s");
    }

    /** The exception of a call that fails, or null. */
    static ApiException failureOf(Callable<?> call) throws Exception {
        try {
            call.call();
            return null;
        } catch (ApiException failure) {
            return failure;
        }
    }

    static JsonNode problemOf(ApiException failure) throws Exception {
        return JSON.readTree(failure.getResponseBody());
    }

    public static void main(String[] args) throws Exception {
        var team = clientOf("PARLEY_URL", "PARLEY_KEY");
        var user = clientOf("PARLEY_URL", "PARLEY_TOKEN");
        var questions = new QuestionsApi(team);

        var input = new NpsQuestionInput()
            .type(NpsQuestionInput.TypeEnum.NPS)
            .title("How likely?")
            .config(new NpsConfig().labels(new ScaleLabels().low("no")));
        var key = UUID.randomUUID().toString();
        var question = questions.createQuestion(
            APICreateQuestionRequest.newBuilder().questionInput(new QuestionInput(input)).idempotencyKey(key).build());
        var published = questions.publishQuestion(
            APIPublishQuestionRequest.newBuilder().id(question.getId()).build());

        Card card = until(() -> new CardsApi(user).listCards(
            APIListCardsRequest.newBuilder().limit(20).build()).getData().stream()
            .filter(each -> each.getQuestionId().equals(question.getId()))
            .findFirst()
            .orElse(null));
        var answer = new AnswerInput()
            .id(UUID.randomUUID())
            .revision(1)
            .cardId(card.getId())
            .questionId(card.getQuestionId())
            .questionVersion(card.getQuestionVersion())
            .state(AnswerInput.StateEnum.COMPLETED)
            .putValuesItem("main", new AnswerValue(9.0))
            .displayedAt(OffsetDateTime.now());
        var answers = new AnswersApi(user);
        var receipts = answers.recordAnswers(
            APIRecordAnswersRequest.newBuilder().answerBatch(new AnswerBatch().addAnswersItem(answer)).build());
        Answer stored = until(() -> {
            try {
                return answers.readAnswer(
                    APIReadAnswerRequest.newBuilder().id(answer.getId()).build()).getAnswer();
            } catch (ApiException absent) {
                return null;
            }
        });
        var results = questions.readResults(
            APIReadResultsRequest.newBuilder().id(question.getId()).groupBy("month").build());

        new ConversationsApi(user).createConversation(
            APICreateConversationRequest.newBuilder().conversationInput(new ConversationInput().message("Hello")).build());
        var conversations = new ConversationsApi(team).listConversations(
            APIListConversationsRequest.newBuilder().limit(100).verified(true).build());

        var stale = failureOf(() -> questions.patchQuestion(
            APIPatchQuestionRequest.newBuilder().id(question.getId()).questionPatch(new QuestionPatch().priority(5)).ifMatch("\"old\"").build()));

        var me = new TokensApi(user).whoAmI(APIWhoAmIRequest.newBuilder().build()).getUserMe();
        var conditional = System.getenv("PARLEY_QUESTION");
        var asked = new CardsApi(user).listCards(APIListCardsRequest.newBuilder().build()).getData().stream()
            .filter(each -> each.getQuestionId().equals(conditional))
            .findFirst()
            .orElseThrow();
        var patched = questions.patchQuestion(
            APIPatchQuestionRequest.newBuilder().id(conditional).questionPatch(new QuestionPatch().priority(5)).build());
        var threads = new ConversationsApi(team);
        var thread = conversations.getData().get(0).getId();
        var message = threads.createMessage(
            APICreateMessageRequest.newBuilder().id(thread).messageInput(new MessageInput().body("Yes?")).build());
        var change = new ConversationPatch().status(ConversationPatch.StatusEnum.RESOLVED);
        var resolved = threads.patchConversation(
            APIPatchConversationRequest.newBuilder().id(thread).conversationPatch(change).build());

        var limited = new QuestionsApi(clientOf("PARLEY_LIMITED_URL", "PARLEY_KEY"));
        ApiException refused = until(() -> failureOf(() ->
            limited.listQuestions(APIListQuestionsRequest.newBuilder().build())));
        var retryAfter = refused.getResponseHeaders().firstValueAsLong("Retry-After").orElseThrow();

        var tomorrow = clientOf("PARLEY_TOMORROW_URL", "PARLEY_KEY");
        var laterCard = new CardsApi(tomorrow).listCards(
            APIListCardsRequest.newBuilder().build()).getData().get(0);
        var later = new ConversationsApi(tomorrow).listConversations(
            APIListConversationsRequest.newBuilder().build()).getData().get(0);
        var failed = failureOf(() -> new QuestionsApi(tomorrow).readQuestion(
            APIReadQuestionRequest.newBuilder().id(question.getId()).build()));

        var seen = new TreeMap<String, Object>(Map.of(
            "created", question.getStatus(),
            "published", published.getStatus(),
            "receipts", receipts.getResults().stream().map(receipt -> receipt.getStatus()).toList(),
            "answer", stored.getState(),
            "completed", results.getCompleted(),
            "conversations", conversations.getData().size(),
            "stale", stale.getCode(),
            "retry", retryAfter > 0));
        seen.put("changes", Map.of(
            "me", me.getIdentity(),
            "condition", asked.getSteps().get(1).getShowIf().getValue(),
            "priority", patched.getPriority(),
            "message", message.getKind(),
            "conversation", resolved.getStatus()));
        seen.put("tomorrow", List.of(
            laterCard.getSteps().get(0).getType(), later.getStatus(), problemOf(failed).get("code").asText()));
        System.out.println(JSON.writeValueAsString(seen));
    }
}
