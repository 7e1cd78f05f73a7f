using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;
using Parley.Api;
using Parley.Client;
using Parley.Model;

/// <summary>The main flow with the C# client of openapi-generator. Prints what it saw as JSON.</summary>
public static class Flow
{
    static Configuration At(string url, string credential) => new Configuration
    {
        BasePath = Environment.GetEnvironmentVariable(url),
        AccessToken = Environment.GetEnvironmentVariable(credential),
    };

    /// <summary>Repeats until there is a result.</summary>
    static T Until<T>(Func<T> attempt) where T : class
    {
        for (var tries = 0; tries < 100; tries++)
        {
            var found = attempt();
            if (found != null) return found;
            Thread.Sleep(100);
        }
        throw new TimeoutException("no result after 10 s");
    }

    /// <summary>The exception of a call that fails, or null.</summary>
    static ApiException FailureOf(Action call)
    {
        try
        {
            call();
            return null;
        }
        catch (ApiException failure)
        {
            return failure;
        }
    }

    public static void Main()
    {
        JsonConvert.DefaultSettings = () => new JsonSerializerSettings { NullValueHandling = NullValueHandling.Ignore };
        var team = At("PARLEY_URL", "PARLEY_KEY");
        var user = At("PARLEY_URL", "PARLEY_TOKEN");
        var questions = new QuestionsApi(team);

        var input = new NpsQuestionInput(
            type: NpsQuestionInput.TypeEnum.Nps,
            title: "How likely?",
            config: new NpsConfig(new ScaleLabels(low: "no")));
        var question = questions.CreateQuestion(new QuestionInput(input), idempotencyKey: Guid.NewGuid().ToString());
        var published = questions.PublishQuestion(question.Id);

        var card = Until(() => new CardsApi(user).ListCards(limit: 20).Data
            .FirstOrDefault(each => each.QuestionId == question.Id));
        var answer = new AnswerInput(
            id: Guid.NewGuid(),
            revision: 1,
            cardId: card.Id,
            questionId: card.QuestionId,
            questionVersion: card.QuestionVersion,
            state: AnswerInput.StateEnum.Completed,
            values: new Dictionary<string, AnswerValue> { ["main"] = new AnswerValue(9.0) },
            displayedAt: DateTime.UtcNow,
            metadata: new Dictionary<string, MetadataValue> { ["account"] = new MetadataValue(123456789.0) });
        var answers = new AnswersApi(user);
        var receipts = answers.RecordAnswers(new AnswerBatch(answers: new List<AnswerInput> { answer }));
        OwnAnswer stored = null;
        Until(() => FailureOf(() => stored = answers.ReadAnswer(answer.Id)) == null ? stored : null);
        var results = questions.ReadResults(question.Id, groupBy: "month");

        new ConversationsApi(user).CreateConversation(new ConversationInput(message: "Hello"));
        var conversations = new ConversationsApi(team).ListConversations(limit: 100, verified: true);

        var stale = FailureOf(() =>
            questions.PatchQuestion(question.Id, new QuestionPatch { Priority = 5 }, ifMatch: "\"old\""));

        var me = new TokensApi(user).WhoAmI();
        var conditional = Environment.GetEnvironmentVariable("PARLEY_QUESTION");
        var asked = new CardsApi(user).ListCards().Data.First(each => each.QuestionId == conditional);
        var patched = questions.PatchQuestion(conditional, new QuestionPatch { Priority = 5 });
        var threads = new ConversationsApi(team);
        var thread = conversations.Data[0].Id;
        var message = threads.CreateMessage(thread, new MessageInput(body: "Yes?"));
        var resolved = threads.PatchConversation(
            thread,
            new ConversationPatch { Status = ConversationPatch.StatusEnum.Resolved });

        var limited = new QuestionsApi(At("PARLEY_LIMITED_URL", "PARLEY_KEY"));
        var refused = Until(() => FailureOf(() => limited.ListQuestions()));
        var retryAfter = int.Parse(refused.Headers["Retry-After"][0]);

        var tomorrow = At("PARLEY_TOMORROW_URL", "PARLEY_KEY");
        var laterCard = new CardsApi(tomorrow).ListCards().Data[0];
        var later = new ConversationsApi(tomorrow).ListConversations().Data[0];
        var failed = FailureOf(() => new QuestionsApi(tomorrow).ReadQuestion(question.Id));

        Console.WriteLine(JsonConvert.SerializeObject(new
        {
            created = question.Status,
            published = published.Status,
            receipts = receipts.Results.Select(receipt => receipt.Status),
            answer = stored.State,
            completed = results.Completed,
            conversations = conversations.Data.Count,
            stale = stale.ErrorCode,
            retry = retryAfter > 0,
            changes = new
            {
                me = me.Identity,
                condition = asked.Steps[1].ShowIf.Value,
                priority = patched.Priority,
                message = message.Kind,
                conversation = resolved.Status,
            },
            tomorrow = new[]
            {
                laterCard.Steps[0].Type,
                later.Status,
                (string)JObject.Parse((string)failed.ErrorContent)["code"],
            },
        }));
    }
}
