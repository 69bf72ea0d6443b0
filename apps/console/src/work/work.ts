import { messageOf } from '../api/errors';

/** Long work that continues while the person is on other screens. */
export interface Work {
  id: number;
  title: string;
  done: number;
  /** Undefined while it is not known. */
  total?: number;
  state: 'running' | 'waiting' | 'succeeded' | 'stopped' | 'failed';
  /** How it ended, or why it failed. */
  message?: string;
  refused: readonly Refused[];
  /** Number of refused items; `refused` has the first 1,000. */
  refusedCount: number;
  /** What can be done when it has ended. */
  actions?: readonly WorkAction[];
}

/** An item that could not be changed, and why. */
export interface Refused {
  item: string;
  reason: string;
}

export interface WorkAction {
  text: string;
  run: () => void;
  /** The work is taken from the page then, because another one follows it. */
  isFollowed?: true;
}

/** What a running work reports. */
export interface Progress {
  signal: AbortSignal;
  advance(done: number, total?: number): void;
  /** It waits for the server. */
  wait(isWaiting: boolean): void;
  refuse(refused: Refused): void;
  /** How many were refused so far. */
  refused(): number;
}

const maxRefused = 1_000;
let works: readonly Work[] = [];
let lastId = 0;
const listeners = new Set<() => void>();
const controllers = new Map<number, AbortController>();

function change(id: number, changes: Partial<Work>): void {
  works = works.map((work) => (work.id === id ? { ...work, ...changes } : work));
  for (const listener of listeners) listener();
}

/** Starts a work. `run` resolves to how it ended; `actions` are offered then. */
export function startWork(
  title: string,
  run: (progress: Progress) => Promise<{ message: string; actions?: readonly WorkAction[] }>,
  {
    total,
    onStopped,
  }: { total?: number; onStopped?: () => Partial<Pick<Work, 'message' | 'actions'>> } = {},
): void {
  const id = (lastId += 1);
  const controller = new AbortController();
  controllers.set(id, controller);
  works = [...works, { id, title, total, done: 0, state: 'running', refused: [], refusedCount: 0 }];
  change(id, {});
  const own = () => works.find((work) => work.id === id)!;
  const progress: Progress = {
    signal: controller.signal,
    advance: (done, known) => change(id, { done, ...(known !== undefined && { total: known }) }),
    wait: (isWaiting) => change(id, { state: isWaiting ? 'waiting' : 'running' }),
    refuse: (one) => {
      const { refused, refusedCount } = own();
      const more = refused.length < maxRefused ? [...refused, one] : refused;
      change(id, { refused: more, refusedCount: refusedCount + 1 });
    },
    refused: () => own().refusedCount,
  };
  void run(progress)
    .then(
      (end) => change(id, { state: 'succeeded', ...end }),
      (error) =>
        controller.signal.aborted
          ? change(id, { state: 'stopped', ...onStopped?.() })
          : change(id, {
              state: 'failed',
              message: messageOf(error),
              actions: onStopped?.().actions,
            }),
    )
    .finally(() => controllers.delete(id));
}

export const stopWork = (id: number): void => controllers.get(id)?.abort();

/** Takes an ended work from the page. */
export function dismissWork(id: number): void {
  works = works.filter((work) => work.id !== id);
  for (const listener of listeners) listener();
}

/** All works that are on the page. */
export const currentWorks = (): readonly Work[] => works;

export function subscribeToWorks(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
