// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Hashes} from "@openzeppelin/contracts/utils/cryptography/Hashes.sol";

/// @title CompactHolders
/// @notice Owners and balances of single tokens in few storage slots. A new holder costs one new slot instead of two, a
/// known holder none, and seven of eight neighbouring ids write into a word that exists.
///
/// @dev Layout
///
/// - A *key* is a number of 32 bits, neither 0 nor {_PLAIN}. It stands for at most one holder.
/// - `_holders[key]`: the holder's address (low 160 bits) and its balance (high 96 bits). 0: the key is free.
/// - `_owners[id >> 3]`: eight lanes of 32 bits, the lowest for the lowest id. A lane has the key of the token's
///   owner; 0 if the token does not exist; {_PLAIN} if its owner is in `_plainOwners[id]`.
/// - `_plainOwners[id]`, `_plainBalances[holder]`: owners and balances of holders without a key.
///
/// A holder has four candidates for its key, one from each 64-bit piece of a hash of the collection's address and its
/// own. Its key is the first candidate whose word is free or has its address. If other holders have all four, it has
/// no key, and its tokens are *plain*.
///
/// Invariants, by induction over {_moveToken}, which alone writes here
///
/// 1. *A key never gets a second holder, and a holder's word is never free again.* There are two writes to `_holders`.
///    {_credit} writes the holder's address into a word that is 0 or has that address already. {_debit} changes only
///    the balance (4). An address in a word is not zero, because nothing is credited to the zero address, so a taken
///    word is never 0, whatever the balance is.
/// 2. *A holder's key never changes, and a holder without a key never gets one.* Consider the search at a holder's
///    first credit. By (1), the candidates that it passed over belong to other holders for ever, and the one at which
///    it ended belongs to this holder for ever. So every later search passes over the same ones and ends at the same
///    key. If it passed over all four, every later search does so too. Two equal candidates do not matter: both have
///    one word.
/// 3. *A lane and `_holders` agree.* A lane gets only what {_credit} returned: the key whose word has the new owner's
///    address, or {_PLAIN}, and then `_plainOwners[id]` gets the address. By (1), that word keeps the address.
///    `_plainOwners[id]` is not zero exactly if the lane is {_PLAIN}.
/// 4. *A balance is the number of the holder's lanes.* {_moveToken} debits the owner that the lane named, then credits
///    the new one, and then writes the lane. By (2) and (3), the lane's key is the owner's key, so both count in one
///    place. A balance that is debited is therefore at least 1, and the sum of all balances is minted minus burnt.
/// 5. *A balance does not reach 2^96.* By (4) it is at most the number of tokens, and the collection mints at most
///    2^64 - 2 (`MintState`). So adding 1 never carries out of the word, and subtracting 1 never borrows from the
///    address.
///
/// No slot has two meanings: all four are Solidity mappings, at four different slot numbers, like the mappings of
/// OpenZeppelin's `ERC721` at others. An element is at keccak256(key . slot number), a hash of 64 bytes, so two
/// elements of different mappings have different preimages. No hash is used as a slot itself: the hash of a holder
/// only gives keys.
///
/// An attacker who finds addresses with a victim's candidates (about 2^32 hashes for each) can take all four. The
/// victim's tokens are then plain. It pays for four cold reads and the slots of ordinary mappings; nothing else
/// changes.
abstract contract CompactHolders {
    /// @dev The lane of a token whose owner has no key.
    uint256 private constant _PLAIN = type(uint32).max;

    /// @dev Candidates of a holder.
    uint256 private constant _CANDIDATES = 4;

    /// @dev Keys that exist: 1 to 2^32 - 2.
    uint256 private constant _KEYS = type(uint32).max - 1;

    /// @dev A balance of 1 in a holder's word.
    uint256 private constant _ONE = 1 << 160;

    mapping(uint256 key => uint256) private _holders;
    mapping(uint256 wordIndex => uint256) private _owners;
    mapping(uint256 tokenId => address) private _plainOwners;
    mapping(address holder => uint256) private _plainBalances;

    /// @dev Gives a token to another owner. Zero as `to` burns it.
    /// @param from The owner, with the two words, as {_findToken} has just returned them.
    function _moveToken(address from, address to, uint256 tokenId, uint256 owners, uint256 holder) internal {
        uint256 lane = _laneOf(owners, tokenId);
        if (lane != 0) _debit(from, lane, holder);
        uint256 newLane = to == address(0) ? 0 : _credit(to);
        if (newLane == _PLAIN) _plainOwners[tokenId] = to;
        else if (lane == _PLAIN) delete _plainOwners[tokenId];
        // Replaces the lane: an exclusive or with what differs.
        _owners[tokenId >> 3] = owners ^ ((lane ^ newLane) << _shiftOf(tokenId));
    }

    /// @dev Returns what is stored of a token's owner. {_moveToken} takes it back and reads nothing again, so nothing
    /// may change owners in between.
    /// @return account The owner; zero if the token does not exist.
    /// @return owners The word with the token's lane.
    /// @return holder The word of the owner's key; 0 if it has none.
    function _findToken(uint256 tokenId) internal view returns (address account, uint256 owners, uint256 holder) {
        owners = _owners[tokenId >> 3];
        uint256 lane = _laneOf(owners, tokenId);
        if (lane == _PLAIN) {
            account = _plainOwners[tokenId];
        } else if (lane != 0) {
            holder = _holders[lane];
            account = address(uint160(holder));
        }
    }

    /// @dev Returns the number of tokens of an account.
    function _balanceOfHolder(address account) internal view returns (uint256) {
        (uint256 key, uint256 word) = _findKey(account);
        // The word of a free key is 0, and so is the balance.
        return key == _PLAIN ? _plainBalances[account] : word >> 160;
    }

    /// @dev Returns a hash of a holder, each 64-bit piece of which gives a candidate. It depends on the collection, so
    /// that addresses that were found for one collection are of no use in another. Only tests override it, with a
    /// weaker one.
    function _hashOf(address holder) internal view virtual returns (uint256) {
        return uint256(Hashes.efficientKeccak256(_wordOf(address(this)), _wordOf(holder)));
    }

    /// @dev Adds 1 to a holder's balance. Returns what the lane of its token gets.
    function _credit(address holder) private returns (uint256 lane) {
        uint256 word;
        (lane, word) = _findKey(holder);
        unchecked {
            // A balance does not reach 2^96 (see 5 above).
            if (lane == _PLAIN) ++_plainBalances[holder];
            else _holders[lane] = (word == 0 ? uint160(holder) : word) + _ONE;
        }
    }

    /// @dev Subtracts 1 from the balance of a token's owner. The lane has the holder's key, so nothing is searched.
    function _debit(address account, uint256 lane, uint256 holder) private {
        unchecked {
            // The account has this token, so the balance is at least 1 (see 4 above).
            if (lane == _PLAIN) --_plainBalances[account];
            else _holders[lane] = holder - _ONE;
        }
    }

    /// @dev Finds a holder's key, or the key that it gets with its first token.
    /// @return key The key; {_PLAIN} if other holders have all candidates.
    /// @return word The word of the key.
    function _findKey(address holder) private view returns (uint256 key, uint256 word) {
        uint256 pieces = _hashOf(holder);
        unchecked {
            // Each step is a number below 2^33.
            for (uint256 i = 0; i < _CANDIDATES; ++i) {
                key = (uint64(pieces) % _KEYS) + 1;
                word = _holders[key];
                if (word == 0 || address(uint160(word)) == holder) return (key, word);
                pieces >>= 64;
            }
        }
        return (_PLAIN, 0);
    }

    function _laneOf(uint256 owners, uint256 tokenId) private pure returns (uint256) {
        return uint32(owners >> _shiftOf(tokenId));
    }

    function _wordOf(address account) private pure returns (bytes32) {
        return bytes32(uint256(uint160(account)));
    }

    function _shiftOf(uint256 tokenId) private pure returns (uint256) {
        return (tokenId & 7) << 5;
    }
}
