//! The main flow with the Rust client of openapi-generator. Prints what it saw as JSON.

use parley::apis::{answers_api, cards_api, configuration::Configuration, conversations_api, questions_api, tokens_api, Error};
use parley::models::{
    answer_input, conversation_patch, nps_question_input, AnswerBatch, AnswerInput, AnswerValue, AnswerView, ConditionValue,
    Conversation, ConversationInput, ConversationPatch, Me, MessageInput, NpsConfig, NpsQuestionInput, QuestionInput, QuestionPatch, ScaleLabels,
};
use reqwest::header::{HeaderMap, HeaderValue, AUTHORIZATION, RETRY_AFTER};
use reqwest::{Request, Response};
use reqwest_middleware::{ClientBuilder, Middleware, Next};
use serde_json::{json, Value};
use std::{collections::HashMap, env, sync::OnceLock, thread::sleep, time::Duration};

type Failure = Box<dyn std::error::Error>;

/// The first `Retry-After`. The client's errors contain no headers, so a middleware reads it.
static RETRY_AFTER_SECONDS: OnceLock<u32> = OnceLock::new();

struct ReadRetryAfter;

#[async_trait::async_trait]
impl Middleware for ReadRetryAfter {
    async fn handle(&self, request: Request, extensions: &mut http::Extensions, next: Next<'_>) -> reqwest_middleware::Result<Response> {
        let response = next.run(request, extensions).await?;
        if let Some(seconds) = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok()) {
            RETRY_AFTER_SECONDS.get_or_init(|| seconds);
        }
        Ok(response)
    }
}

fn client_of(url: &str, credential: &str) -> Result<Configuration, Failure> {
    let authorization = HeaderValue::from_str(&format!("Bearer {}", env::var(credential)?))?;
    let headers = HeaderMap::from_iter([(AUTHORIZATION, authorization)]);
    let client = reqwest::Client::builder().default_headers(headers).build()?;
    Ok(Configuration {
        base_path: env::var(url)?,
        client: ClientBuilder::new(client).with(ReadRetryAfter).build(),
        ..Configuration::default()
    })
}

/// Repeats until there is a result.
async fn until<T>(attempt: impl AsyncFn() -> Option<T>) -> T {
    for _ in 0..100 {
        if let Some(found) = attempt().await {
            return found;
        }
        sleep(Duration::from_millis(100));
    }
    panic!("no result after 10 s")
}

async fn conversations_of(team: &Configuration) -> Result<Vec<Conversation>, Failure> {
    let (limit, verified) = (Some(100), Some(true));
    let page = conversations_api::list_conversations(
        team, limit, None, None, None, None, verified, None, None, None, None, None, None, None, None, None, None, None, None,
    );
    Ok(page.await?.data)
}

/// The status and the problem of a call that fails.
fn failure_of<T, E>(result: Result<T, Error<E>>) -> Option<(u16, Value)> {
    match result {
        Err(Error::ResponseError(refused)) => Some((refused.status.as_u16(), serde_json::from_str(&refused.content).ok()?)),
        _ => None,
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let team = client_of("PARLEY_URL", "PARLEY_KEY")?;
    let user = client_of("PARLEY_URL", "PARLEY_TOKEN")?;

    let labels = ScaleLabels { low: Some("no".to_owned()), ..ScaleLabels::new() };
    let input = NpsQuestionInput {
        config: Some(Box::new(NpsConfig { labels: Some(Box::new(labels)) })),
        ..NpsQuestionInput::new("How likely?".to_owned(), nps_question_input::Type::Nps)
    };
    let input = QuestionInput::NpsQuestionInput(Box::new(input));
    let key = uuid::Uuid::new_v4().to_string();
    let question = questions_api::create_question(&team, input, Some(&key), None, None, None).await?;
    let id = question.id.as_str();
    let published = questions_api::publish_question(&team, id, None, None, None, None, None, None).await?;

    let cards_of_user = async || cards_api::list_cards(&user, None, None, None, Some(20), None, None, None).await.map(|list| list.data);
    let card = until(async || cards_of_user().await.ok()?.into_iter().find(|card| card.question_id == id)).await;
    let answer = AnswerInput {
        card_id: Some(card.id),
        values: Some(HashMap::from([("main".to_owned(), AnswerValue::Number(9.0))])),
        ..AnswerInput::new(uuid::Uuid::new_v4(), 1, card.question_id, card.question_version, answer_input::State::Completed)
    };
    let answer_id = answer.id.to_string();
    let receipts = answers_api::record_answers(&user, AnswerBatch::new(vec![answer]), None).await?;
    let stored = until(async || match answers_api::read_answer(&user, &answer_id, None, None, None).await {
        Ok(AnswerView::OwnAnswer(own)) => Some(own),
        _ => None,
    })
    .await;
    let results = questions_api::read_results(&team, id, None, None, Some("month"), None, None, None, None, None, None, None).await?;

    conversations_api::create_conversation(&user, ConversationInput::new("Hello".to_owned()), None, None, None, None).await?;
    let conversations = conversations_of(&team).await?;
    let priority = QuestionPatch { priority: Some(5), ..QuestionPatch::new() };
    let outdated = questions_api::patch_question(&team, id, priority.clone(), Some("\"old\""), None, None, None, None).await;
    let (stale, _) = failure_of(outdated).ok_or("not refused")?;

    let Me::UserMe(me) = tokens_api::who_am_i(&user, None).await? else { return Err("not a user".into()) };
    let conditional = env::var("PARLEY_QUESTION")?;
    let asked = cards_of_user().await?.into_iter().find(|card| card.question_id == conditional).ok_or("no card")?;
    let condition = asked.steps[1].show_if.as_ref().and_then(|condition| condition.value.as_deref());
    let Some(ConditionValue::Number(condition)) = condition else { return Err("no condition".into()) };
    let patched = questions_api::patch_question(&team, &conditional, priority, None, None, None, None, None).await?;
    let thread = conversations[0].id.as_str();
    let reply = MessageInput::new("Yes?".to_owned());
    let message = conversations_api::create_message(&team, thread, reply, None, None, None, None).await?;
    let change = ConversationPatch { status: Some(conversation_patch::Status::Resolved), ..ConversationPatch::new() };
    let resolved = conversations_api::patch_conversation(&team, thread, change, None, None, None, None, None).await?;

    let limited = client_of("PARLEY_LIMITED_URL", "PARLEY_KEY")?;
    until(async || {
        let list = questions_api::list_questions(&limited, None, None, None, None, None, None, None, None).await;
        failure_of(list).filter(|(status, _)| *status == 429)
    })
    .await;

    let tomorrow = client_of("PARLEY_TOMORROW_URL", "PARLEY_KEY")?;
    let later_cards = cards_api::list_cards(&tomorrow, None, None, None, None, None, None, None).await?.data;
    let later = conversations_of(&tomorrow).await?;
    let failed = questions_api::read_question(&tomorrow, id, None, None, None).await;
    let (_, problem) = failure_of(failed).ok_or("not refused")?;

    let seen = json!({
        "created": question.status,
        "published": published.status,
        "receipts": receipts.results.iter().map(|receipt| &receipt.status).collect::<Vec<_>>(),
        "answer": stored.state,
        "completed": results.completed,
        "conversations": conversations.len(),
        "stale": stale,
        "retry": RETRY_AFTER_SECONDS.get() > Some(&0),
        "changes": {
            "me": me.identity,
            "condition": condition,
            "priority": patched.priority,
            "message": message.kind,
            "conversation": resolved.status,
        },
        "tomorrow": [later_cards[0].steps[0].r#type, later[0].status, problem["code"]],
    });
    println!("{seen}");
    Ok(())
}
