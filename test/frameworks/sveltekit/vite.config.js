import adapter from '@sveltejs/adapter-node';
import { sveltekit } from '@sveltejs/kit/vite';

export default {
  plugins: [
    sveltekit({
      adapter: adapter(),
      paths: { origin: process.env.ORIGIN },
      csp: {
        mode: 'nonce',
        directives: {
          'default-src': ['none'],
          'script-src': ['self'],
          'style-src': ['self', 'unsafe-hashes', 'sha256-S8qMpvofolR8Mpjy4kQvEm7m1q8clzU4dfDH0AmvZjo='], // of SvelteKit's announcer
          'connect-src': ['self', process.env.SERVICE_BASE_URL],
          'base-uri': ['none'],
        },
      },
    }),
  ],
};
