import com.google.gson.Gson
import com.google.gson.JsonParser
import java.time.OffsetDateTime
import java.util.UUID
import okhttp3.OkHttpClient
import org.openapitools.client.apis.AnswersApi
import org.openapitools.client.apis.CardsApi
import org.openapitools.client.apis.ConversationsApi
import org.openapitools.client.apis.QuestionsApi
import org.openapitools.client.apis.TokensApi
import org.openapitools.client.infrastructure.ClientError
import org.openapitools.client.infrastructure.ClientException
import org.openapitools.client.models.AnswerBatch
import org.openapitools.client.models.AnswerInput
import org.openapitools.client.models.AnswerValue
import org.openapitools.client.models.ConversationInput
import org.openapitools.client.models.ConversationPatch
import org.openapitools.client.models.MessageInput
import org.openapitools.client.models.NpsConfig
import org.openapitools.client.models.NpsQuestionInput
import org.openapitools.client.models.OwnAnswer
import org.openapitools.client.models.QuestionInput
import org.openapitools.client.models.QuestionPatch
import org.openapitools.client.models.ScaleLabels
import org.openapitools.client.models.UserMe

/** An HTTP client that sends a credential. `ApiClient.accessToken` is the same for all clients of a process. */
fun clientOf(credential: String): OkHttpClient {
    val authorization = "Bearer " + System.getenv(credential)
    return OkHttpClient.Builder()
        .addInterceptor { it.proceed(it.request().newBuilder().header("Authorization", authorization).build()) }
        .build()
}

/** Repeats until there is a result. */
fun <T : Any> until(attempt: () -> T?): T {
    repeat(100) {
        attempt()?.let { return it }
        Thread.sleep(100)
    }
    error("no result after 10 s")
}

/** The response to a call that fails, or null. */
fun failureOf(call: () -> Any): ClientError<*>? =
    try {
        call()
        null
    } catch (failure: ClientException) {
        failure.response as ClientError<*>
    }

/** The main flow with the Kotlin client of openapi-generator. Prints what it saw as JSON. */
fun main() {
    val url = System.getenv("PARLEY_URL")
    val (team, user) = listOf("PARLEY_KEY", "PARLEY_TOKEN").map(::clientOf)
    val questions = QuestionsApi(url, team)

    val input = NpsQuestionInput(
        type = NpsQuestionInput.Type.nps,
        title = "How likely?",
        config = NpsConfig(ScaleLabels(low = "no")),
    )
    val question = questions.createQuestion(QuestionInput(input), idempotencyKey = UUID.randomUUID().toString())
    val published = questions.publishQuestion(question.id)

    val card = until { CardsApi(url, user).listCards(limit = 20).data.find { it.questionId == question.id } }
    val answer = AnswerInput(
        id = UUID.randomUUID(),
        revision = 1,
        cardId = card.id,
        questionId = card.questionId,
        questionVersion = card.questionVersion,
        state = AnswerInput.State.completed,
        propertyValues = mapOf("main" to AnswerValue(9.0)),
        displayedAt = OffsetDateTime.now(),
    )
    val answers = AnswersApi(url, user)
    val receipts = answers.recordAnswers(AnswerBatch(listOf(answer)))
    lateinit var stored: OwnAnswer
    until {
        val absent = failureOf { stored = answers.readAnswer(answer.id).actualInstance as OwnAnswer }
        if (absent == null) stored else null
    }
    val results = questions.readResults(question.id, groupBy = QuestionsApi.GroupByReadResults.month)

    ConversationsApi(url, user).createConversation(ConversationInput("Hello"))
    val threads = ConversationsApi(url, team)
    val conversations = threads.listConversations(limit = 100, verified = true)
    val stale = failureOf { questions.patchQuestion(question.id, QuestionPatch(priority = 5), ifMatch = "\"old\"") }

    val me = TokensApi(url, user).whoAmI().actualInstance as UserMe
    val conditional = System.getenv("PARLEY_QUESTION")
    val asked = CardsApi(url, user).listCards().data.first { it.questionId == conditional }
    val patched = questions.patchQuestion(conditional, QuestionPatch(priority = 5))
    val thread = conversations.data[0].id
    val message = threads.createMessage(thread, MessageInput("Yes?"))
    val resolved = threads.patchConversation(thread, ConversationPatch(status = ConversationPatch.Status.resolved))

    val limited = QuestionsApi(System.getenv("PARLEY_LIMITED_URL"), team)
    val refused = until { failureOf { limited.listQuestions() } }
    val retryAfter = refused.headers.entries.first { it.key.equals("Retry-After", ignoreCase = true) }.value[0].toInt()

    val tomorrow = System.getenv("PARLEY_TOMORROW_URL")
    val laterCard = CardsApi(tomorrow, team).listCards().data[0]
    val later = ConversationsApi(tomorrow, team).listConversations().data[0]
    val failed = failureOf { QuestionsApi(tomorrow, team).readQuestion(question.id) }
    val code = JsonParser.parseString(failed?.body as String).asJsonObject["code"].asString

    println(Gson().toJson(mapOf(
        "created" to question.status,
        "published" to published.status,
        "receipts" to receipts.results.map { it.status },
        "answer" to stored.state,
        "completed" to results.completed,
        "conversations" to conversations.data.size,
        "stale" to stale?.statusCode,
        "retry" to (retryAfter > 0),
        "changes" to mapOf(
            "me" to me.identity,
            "condition" to asked.steps[1].showIf?.value?.actualInstance,
            "priority" to patched.priority,
            "message" to message.kind,
            "conversation" to resolved.status,
        ),
        "tomorrow" to listOf(laterCard.steps[0].type, later.status, code),
    )))
}
