import type { InputOf, ResultOf } from '@parley/client/manage';

export const views = ['open', 'waiting', 'mine', 'human', 'agent', 'closed', 'all'] as const;
export type View = (typeof views)[number];
type Input = InputOf<'listThreads'>;

/** The view that the address names. */
export const viewOf = (name: unknown): View => views.find((one) => one === name) ?? 'open';

/** The threads of a view. */
export function inputOf(view: View, personId: string): Input {
  switch (view) {
    case 'all':
      return {};
    case 'closed':
      return { status: 'closed' };
    case 'open':
      return { status: 'open' };
    case 'mine':
      return { status: 'open', assignee: personId };
    default:
      return { status: 'open', state: view };
  }
}

/** `isMore`: the server counts no further. */
export interface ViewCount {
  count: number;
  isMore: boolean;
}

const maxCounted = 1_000;
/** The numbers of the views that the server counts. */
export function countsOf({
  waiting,
  mine,
  human,
  agent,
}: ResultOf<'countThreads'>): Partial<Record<View, ViewCount>> {
  const counted = (...numbers: number[]): ViewCount => ({
    count: numbers.reduce((sum, one) => sum + one, 0),
    isMore: numbers.some((one) => one >= maxCounted),
  });
  return {
    open: counted(waiting, human, agent),
    waiting: counted(waiting),
    mine: counted(mine),
    human: counted(human),
    agent: counted(agent),
  };
}
