import Router from '@koa/router';
import Koa from 'koa';

/** Three small cards as text, about the size of a real reply. */
const CARDS = JSON.stringify({
  data: [1, 2, 3].map(number => ({
    id: `card_01jmq${number}`.padEnd(31, '0'),
    question_id: `question_01jmq${number}`.padEnd(35, '0'),
    kind: 'question',
    title: 'How likely are you to recommend us?',
  })),
  poll_after_s: 300,
});

/** The floor of every goal: bare Koa with a router that returns a constant text. */
const router = new Router();
for (const path of ['/v1/cards', '/readyz'])
  router.get(path, context => {
    context.type = 'application/json';
    context.body = CARDS;
  });

const app = new Koa();
app.use(router.routes());
app.listen(Number(process.env.PORT), '127.0.0.1');
