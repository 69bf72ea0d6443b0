import { formatNumber, useTexts } from '../../i18n';
import { Facts } from '../../parts/detail-screen';
import { Section } from '../../parts/section';
import { type Organization, days, toWeek } from './hours';
import { settingsCatalog } from './texts';

/** The settings for a person who may not change them. */
export function ReadSettings({
  organization: { name, timezone, conversations },
}: {
  organization: Organization;
}) {
  const texts = useTexts(settingsCatalog);
  const { openingHours, closedMessage, takeBackAfterMinutes, notifyAfterMinutes, ...others } =
    conversations;
  const week = toWeek(openingHours);
  const minutes = (count: number | null, without: string) =>
    count === null ? without : texts.inMinutes(formatNumber(count));
  return (
    <Section title={texts.people} hint={texts.onlyAdmins}>
      <Facts
        facts={[
          [texts.name, name],
          [texts.timezone, timezone],
          [
            texts.hours,
            openingHours.length === 0
              ? texts.always
              : days.map((day) => (
                  <div key={day}>
                    {texts.days[day]}:{' '}
                    {week[day].map(({ from, to }) => `${from}–${to}`).join(', ') || texts.closed}
                  </div>
                )),
          ],
          [texts.closedMessage, closedMessage ?? texts.agentSays],
          [texts.takeBack, minutes(takeBackAfterMinutes, texts.never)],
          [texts.notify, minutes(notifyAfterMinutes, texts.none)],
          [texts.notifyEmails, others.notifyEmails.join(', ') || texts.allMembers],
          [texts.phonePause, minutes(others.phonePauseMinutes, texts.never)],
        ]}
      />
    </Section>
  );
}
