import { countsOf, inputOf, viewOf, views } from './inbox-views';

test('an address that names no view, as an old or edited one, shows the open threads', () => {
  expect(views.map(viewOf)).toEqual([...views]);
  expect([undefined, 'none', '', 4, ['mine'], 'constructor'].map(viewOf)).toEqual(
    Array.from({ length: 6 }, () => 'open'),
  );
});

test('each view asks for its threads', () => {
  expect(Object.fromEntries(views.map((view) => [view, inputOf(view, 'person_1')]))).toEqual({
    open: { status: 'open' },
    waiting: { status: 'open', state: 'waiting' },
    mine: { status: 'open', assignee: 'person_1' },
    human: { status: 'open', state: 'human' },
    agent: { status: 'open', state: 'agent' },
    closed: { status: 'closed' },
    all: {},
  });
});

test('open threads are those of all states; a number that the server stops at is a lower bound', () => {
  const counts = countsOf({ waiting: 3, mine: 1, human: 1_000, agent: 0 } as Parameters<
    typeof countsOf
  >[0]);
  expect(counts).toEqual({
    open: { count: 1_003, isMore: true },
    waiting: { count: 3, isMore: false },
    mine: { count: 1, isMore: false },
    human: { count: 1_000, isMore: true },
    agent: { count: 0, isMore: false },
  });
});
