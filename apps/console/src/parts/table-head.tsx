/** The titles of a table that scrolls below them. */
export function TableHead({ titles }: { titles: readonly string[] }) {
  return (
    <thead className="sticky top-0 bg-n2 text-n11">
      <tr>
        {titles.map((title) => (
          <th key={title} className="px-2 py-1 font-normal">
            {title}
          </th>
        ))}
      </tr>
    </thead>
  );
}
