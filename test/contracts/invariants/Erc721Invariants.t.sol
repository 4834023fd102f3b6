// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC721Collection} from "../../../contracts/ERC721Collection.sol";
import {Erc721Handler} from "./Erc721Handler.sol";

/// @title Erc721Invariants
/// @notice Rules that hold for an ERC721 collection after any sequence of calls.
contract Erc721Invariants {
    Erc721Handler private _handler;
    ERC721Collection private _collection;

    error Broken(string rule);

    function setUp() public {
        _handler = _newHandler();
        _collection = _handler.COLLECTION();
    }

    /// @dev The test runner calls only these functions.
    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_handler);
    }

    function invariant_everyRule() public view {
        _require(bytes(_handler.fault()).length == 0, _handler.fault());
        uint256 minted = _handler.minted();
        _require(_collection.totalMinted() == minted, "minted is what was minted");
        _require(_collection.totalSupply() == minted - _handler.burnt(), "supply is minted minus burnt");
        _require(_collection.maxSupply() == _handler.cap(), "the cap is the lowest one set");
        _require(minted <= _handler.cap(), "minted is within the cap");

        _checkBalances();
        uint256 existing = 0;
        for (uint256 id = 0; id <= minted + 1; ++id) {
            address holder = _holderOf(id);
            _require(holder == _handler.holderOf(id), "tokens move only with consent");
            if (holder != address(0)) ++existing;
        }
        _require(existing == minted - _handler.burnt(), "ids run without gaps, and burnt ones stay burnt");

        bytes32 metadata = _handler.frozenMetadata();
        _require(metadata == 0 || metadata == _handler.metadataHash(), "frozen metadata stays");
        bytes32 royalty = _handler.frozenRoyalty();
        _require(royalty == 0 || royalty == _handler.royaltyHash(), "a frozen royalty stays");
    }

    /// @dev The balances of all accounts that may hold tokens.
    function _checkBalances() private view {
        uint256 sum = _collection.balanceOf(address(0xbeef));
        for (uint256 i = 0; i < 4; ++i) {
            address account = _handler.walletOf(i);
            uint256 balance = _collection.balanceOf(account);
            uint256 held = 0;
            for (uint256 id = 1; id <= _handler.minted(); ++id) if (_handler.holderOf(id) == account) ++held;
            _require(balance == held, "a balance is the number of tokens");
            sum += balance;
        }
        _require(sum == _handler.minted() - _handler.burnt(), "the sum of balances is minted minus burnt");
    }

    function _newHandler() internal virtual returns (Erc721Handler) {
        return new Erc721Handler();
    }

    function _holderOf(uint256 id) private view returns (address holder) {
        try _collection.ownerOf(id) returns (address owner) {
            holder = owner;
        } catch {
            holder = address(0);
        }
    }

    function _require(bool holds, string memory rule) private pure {
        if (!holds) revert Broken(rule);
    }
}
