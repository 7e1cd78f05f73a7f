<?php

declare(strict_types=1);

namespace Parley\Operations;

use Parley\Listing;
use Parley\Shapes;

/**
 * The feed of events.
 *
 * @phpstan-import-type Event from Shapes
 * @phpstan-import-type EventQuery from Shapes
 */
trait Events
{
    /**
     * Reads events in order, without gaps, up to the newest. Without `after`, from the oldest one that is kept on; they are
     * kept for 30 days. `page()` has `last`, the `after` of the next page.
     *
     * @param EventQuery $query
     * @return Listing<Event>
     */
    public function readEvents(array $query = []): Listing
    {
        /** @var Listing<Event> */
        return $this->list(__FUNCTION__, '/v1/events', $query);
    }
}
