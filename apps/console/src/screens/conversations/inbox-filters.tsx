import { Link } from '@tanstack/react-router';
import { SlidersHorizontal } from 'lucide-react';
import { type RefObject, useId, useState } from 'react';
import { useAgents, usePeople } from '../../api/queries';
import { formatNumber, useTexts } from '../../i18n';
import { Button, Choice, Toggle, tabLook } from '../../parts/controls';
import { SearchBox } from '../../parts/search-box';
import { inboxCatalog } from './inbox-texts';
import { conversationsCatalog } from './texts';
import { views } from './inbox-views';
import { useInboxSearch, useViewCounts } from './use-inbox';

/** The views with their counts, the search, and the filters, which are folded away. */
export function InboxFilters({
  searchBox,
  labels,
}: {
  searchBox: RefObject<HTMLInputElement | null>;
  /** Labels that are known, as suggestions. */
  labels: readonly string[];
}) {
  const inbox = useTexts(inboxCatalog);
  const { search, change, filterCount } = useInboxSearch();
  const [isOpen, setOpen] = useState(filterCount > 0);
  const filtersId = useId();
  return (
    <div className="space-y-2 border-b border-n5 px-2 py-2">
      <Views />
      <div className="flex gap-2">
        <SearchBox
          box={searchBox}
          value={search.q ?? ''}
          onChange={(q) => change({ q: q || undefined })}
          label={inbox.search}
        />
        <Button
          icon={SlidersHorizontal}
          aria-expanded={isOpen}
          aria-controls={filtersId}
          label={inbox.filters}
          onClick={() => setOpen(!isOpen)}
          className={filterCount > 0 ? '!w-auto border-accent bg-accent-soft px-2 text-accent' : ''}
        >
          {filterCount > 0 && formatNumber(filterCount)}
        </Button>
      </div>
      <div id={filtersId} hidden={!isOpen}>
        {isOpen && <Filters labels={labels} />}
      </div>
    </div>
  );
}

function Views() {
  const inbox = useTexts(inboxCatalog);
  const { view } = useInboxSearch();
  const counts = useViewCounts();
  return (
    <nav aria-label={inbox.viewsLabel} className="flex gap-1 overflow-x-auto">
      {views.map((one) => {
        const counted = counts[one];
        return (
          <Link
            key={one}
            from="/$organization/$environment/conversations"
            to="."
            search={(before) => ({ ...before, view: one === 'open' ? undefined : one })}
            aria-current={one === view ? 'page' : undefined}
            className={tabLook(one === view)}
          >
            {inbox.views[one]}
            {counted !== undefined && counted.count > 0 && (
              <span className={`tabular-nums ${one === 'waiting' ? 'text-waiting' : 'text-n11'}`}>
                {formatNumber(counted.count)}
                {counted.isMore && '+'}
              </span>
            )}
          </Link>
        );
      })}
    </nav>
  );
}

function Filters({ labels }: { labels: readonly string[] }) {
  const inbox = useTexts(inboxCatalog);
  const { channels } = useTexts(conversationsCatalog);
  const { states } = useTexts();
  const { search, view, change, filterCount } = useInboxSearch();
  const agents = useAgents().items;
  const people = usePeople();
  const listId = useId();
  return (
    <div className="grid grid-cols-2 gap-2">
      <Choice
        label={inbox.channel}
        value={search.channel ?? ''}
        onChange={({ target }) => change({ channel: target.value || undefined })}
        options={[['', inbox.anyChannel], ...Object.entries(channels)]}
      />
      <Choice
        label={inbox.agent}
        value={search.agent ?? ''}
        onChange={({ target }) => change({ agent: target.value || undefined })}
        options={[['', inbox.anyAgent], ...agents.map(({ slug, name }) => [slug, name] as const)]}
      />
      {view !== 'mine' && (
        <Choice
          label={inbox.assignee}
          value={search.assignee ?? ''}
          onChange={({ target }) => change({ assignee: target.value || undefined })}
          options={[['', inbox.anyAssignee], ...people.map(({ id, name }) => [id, name] as const)]}
        />
      )}
      <input
        key={search.label}
        aria-label={inbox.label}
        placeholder={inbox.label}
        list={listId}
        maxLength={50}
        defaultValue={search.label}
        onChange={({ target }) => labels.includes(target.value) && change({ label: target.value })}
        onBlur={({ target }) => change({ label: target.value.trim() || undefined })}
        onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
        className="tap h-8 min-w-0 rounded border border-n7 bg-n1 px-2"
      />
      <datalist id={listId}>
        {labels.map((label) => (
          <option key={label} value={label} />
        ))}
      </datalist>
      <Toggle
        label={inbox.unread}
        isOn={search.unread === true}
        onChange={(unread) => change({ unread: unread || undefined })}
      />
      {filterCount > 0 && (
        <Button
          look="quiet"
          onClick={() =>
            change({
              channel: undefined,
              agent: undefined,
              assignee: undefined,
              label: undefined,
              unread: undefined,
            })
          }
        >
          {states.clearFilters}
        </Button>
      )}
    </div>
  );
}
