import { headers } from 'next/headers';
import { FeedbackCard } from '../feedback.jsx';

export default async function Page() {
  await headers(); // renders the page at each request, because its nonce differs
  return (
    <main>
      <h1>App</h1>
      <FeedbackCard />
    </main>
  );
}
