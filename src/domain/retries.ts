/** Returns 1 to 5 seconds at random, so that clients refused together do not retry together. */
export const retrySoon = (): number => 1 + Math.floor(Math.random() * 5);
