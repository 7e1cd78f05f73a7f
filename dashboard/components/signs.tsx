import type { ReactNode } from 'react';

/** SVG instead of emoji, so that cards look the same on every device and follow the theme. */
const Sign = ({ children }: { children: ReactNode }) => (
  <svg
    aria-hidden="true"
    width="26"
    height="26"
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.6"
    strokeLinecap="round"
    strokeLinejoin="round"
  >
    {children}
  </svg>
);

/** A smiley with a mood from -1 (sad) to 1 (happy). */
export const Face = ({ mood }: { mood: number }) => (
  <Sign>
    <circle cx="12" cy="12" r="9.5" />
    <path d="M9 9.5v.6M15 9.5v.6" />
    <path d={`M8 ${15.25 - 1.25 * mood}q4 ${4 * mood} 8 0`} />
  </Sign>
);

export const Star = () => (
  <Sign>
    <path d="m12 3.2 2.7 5.6 6.1.8-4.500 4.300 1.100 6.100L12 17.100 6.600 20l1.100-6.100L3.2 9.6l6.1-.8z" />
  </Sign>
);

/** A thumb, up or down. */
export const Thumb = ({ up }: { up: boolean }) => (
  <Sign>
    <g transform={up ? undefined : 'rotate(180 12 12)'}>
      <path d="M7.5 10.5 11 3.5c1.5 0 2.5 1 2.5 2.5v3.5h4.7c1.2 0 2.100 1.1 1.9 2.3l-1 6.5c-.2 1-1 1.7-2 1.7H7.5zM7.5 10.5H4.2V20h3.3" />
    </g>
  </Sign>
);
