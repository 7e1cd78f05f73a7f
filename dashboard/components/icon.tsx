/** Line icons on a 20 × 20 grid. Decorative: hidden from screen readers. */
const SHAPES = {
  home: 'M3 9.5 10 3.5l7 6M5 8.5V16.5h10V8.5M8.5 16.5v-4h3v4',
  question: 'M4 4.5h12v8.5H9.5L6 16v-3H4zM7 7.5h6M7 10h4',
  inbox: 'M3.5 11 5.5 4.5h9l2 6.5v4.5h-13zM3.5 11h4l1 2h3l1-2h4',
  pulse: 'M3 10.5h3.5L8.5 5l3 10 2-4.5H17',
  settings: 'M4 6h6M14 6h2M4 14h2M10 14h6M12 4v4M8 12v4',
  menu: 'M3.5 6h13M3.5 10h13M3.5 14h13',
  close: 'm5 5 10 10M15 5 5 15',
  check: 'm4 10.5 4 4 8-9',
  copy: 'M7 7h9v9H7zM4 13V4h9',
  plus: 'M10 4v12M4 10h12',
  back: 'M12 4.5 6.5 10l5.5 5.5',
  more: 'M5 10h.01M10 10h.01M15 10h.01',
  down: 'm5 8 5 5 5-5',
  note: 'M5 3.5h7l3 3v10H5zM12 3.5v3h3M7.5 10h5M7.5 13h3',
  keys: 'M2.5 6h15v8.5h-15zM5.5 9h.01M8.5 9h.01M11.5 9h.01M14.5 9h.01M6.5 12h7',
  person: 'M10 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6M4 16.5c.6-3 2.9-4.5 6-4.5s5.400 1.500 6 4.5',
} as const;

export type IconName = keyof typeof SHAPES;

export const Icon = ({ name, size = 18 }: { name: IconName; size?: number }) => (
  <svg
    aria-hidden="true"
    width={size}
    height={size}
    viewBox="0 0 20 20"
    fill="none"
    stroke="currentColor"
    strokeWidth={name === 'more' ? 2.5 : 1.5}
    strokeLinecap="round"
    strokeLinejoin="round"
  >
    <path d={SHAPES[name]} />
  </svg>
);
