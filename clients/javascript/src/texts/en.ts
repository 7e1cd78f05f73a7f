export { en } from '../feedback/texts.ts';
